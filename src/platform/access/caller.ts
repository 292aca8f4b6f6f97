/** Who is calling (CONTRACT §3). Decided once per request, before the body is read, and kept on it. */
export type Caller = { readonly kind: 'user'; readonly userId: string } | { readonly kind: 'internal' };
