/** The vocabulary of the auth service. Generated from its OpenAPI document by `npm run generate`. */

export interface SignInStart {
  /** Where to go afterwards. */ readonly next?: string;
  /** The id of the user who invited. */
  readonly invite?: string;
}

export interface SignInReturn {
  /** Of the sign-in; without it the browser is sent on. */ readonly code?: string;
}

export interface AccessToken {
  /** A JWT, signed by the identity provider. */ readonly access_token: string;
  readonly token_type: 'bearer';
  /** Seconds. */
  readonly expires_in: number;
  /** Unix seconds. */
  readonly expires_at: number;
}

export interface SignOut {
  /** `local` ends this session alone. */ readonly scope?: 'global' | 'local';
}

export interface SignedOut {
  readonly ok: true;
}
