/** The vocabulary of the auth service. Generated from its OpenAPI document by `npm run generate`. */

export interface SignInStart {
  /** The URL to redirect to after sign-in. */ readonly next?: string;
  /** The id of the inviting user. */
  readonly invite?: string;
}

export interface SignInReturn {
  /** The authorization code. Without it, the browser is redirected at once. */ readonly code?: string;
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

export interface CreditsGrant {
  /** The id or the email address. */ readonly user: string;
  readonly plan: 'free' | 'basic' | 'basic_year' | 'pro' | 'pro_year' | 'max' | 'max_year';
  readonly credits: number;
}

export interface GrantedProfile {
  readonly id: string;
  readonly email: string | null;
  readonly plan: 'free' | 'basic' | 'basic_year' | 'pro' | 'pro_year' | 'max' | 'max_year';
  readonly credits: number;
}

export interface ActionListing {
  readonly limit?: number;
}

export interface OperatorActions {
  readonly actions: readonly {
    readonly at: string;
    readonly actor: string;
    /** A command, or method and route. */
    readonly action: string;
    readonly target: string;
    /** `done`, or the code of the error. */
    readonly outcome: string;
    readonly requestId: string | null;
  }[];
}

export interface SeededAccounts {
  readonly users: number;
  readonly feeds: number;
}
