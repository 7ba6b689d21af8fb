// Package auth says who a request comes from, and has the words in which it is judged what they may do.
//
// It guarantees:
//
//  1. A User is a value; nobody changes one after it was made.
//  2. Wrong credentials are an error, never a fall back to another identity.
//  3. No error has a token, or a part of one, in it.
//  4. A token is verified with the algorithm of the key, whatever it says itself, and as of the moment
//     of the request: what is remembered between requests is only that a signature is good.
//  5. What is remembered is bounded.
//
// It is stricter than kube-apiserver in that tokens must expire and do so on the second, where upstream
// allows a minute for clocks that differ.
package auth
