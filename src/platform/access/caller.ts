/** The caller of a request (docs/specification/http.md#credentials). A guard determines it once per request, before the body is read. */
export type Caller =
  | {
      readonly kind: 'user';
      readonly userId: string;
      /** A server made the request on behalf of the user (`X-On-Behalf-Of`). */
      readonly isOnBehalf?: true;
      /** When the access token expires. Absent if a server made the request. */
      readonly expiresAtMs?: number;
      /** Of the access token. */
      readonly email?: string;
    }
  | { readonly kind: 'internal' };

/** A server that sends this header with the internal key has the rights of the named user and no others. */
export const onBehalfHeader = 'x-on-behalf-of';
