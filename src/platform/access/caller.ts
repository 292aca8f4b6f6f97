/** Who is calling (docs/specification/http.md#credentials). Decided once per request, before the body is read, and kept on it. */
export type Caller =
  | {
      readonly kind: 'user';
      readonly userId: string;
      /** A server made the request on behalf of the user (`X-On-Behalf-Of`). */
      readonly isOnBehalf?: true;
    }
  | { readonly kind: 'internal' };

/** A server that sends this header with the internal key has the rights of the user that it names, and no others. */
export const onBehalfHeader = 'x-on-behalf-of';
