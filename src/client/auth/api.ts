/** The vocabulary of the auth service. Generated from its OpenAPI document by `npm run generate`. */

export interface SignInStart {
  /** The URL to redirect to after sign-in. */ readonly next?: string;
  /** The id of the inviting user. */
  readonly invite?: string;
}

export interface SignInReturn {
  /** The authorization code. Without it, the browser is redirected immediately. */ readonly code?: string;
  /** The state of the sign-in, if the identity provider returns it. */
  readonly state?: string;
  /** The reason why the identity provider did not sign the user in. */
  readonly error?: string;
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

export interface SeededAccounts {
  readonly users: number;
  readonly feeds: number;
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

export interface PeopleListing {
  /** Only these users, in one page; separated by commas, at most 200. */ readonly ids?: string;
  /** An id, or a part of an email address. Addresses that begin with it come first; other parts are found among the newest 100,000 users. Without it: the newest. */
  readonly q?: string;
  /** Only users with this plan. */
  readonly plan?: 'free' | 'basic' | 'basic_year' | 'pro' | 'pro_year' | 'max' | 'max_year';
  /** Only users whose account is blocked, or is not. */
  readonly status?: 'active' | 'blocked';
  /** `credits`: the highest balance first. Only without `q`. */
  readonly order?: 'newest' | 'oldest' | 'credits';
  readonly limit?: number;
  /** The `next_cursor` of the previous page; only without `q`. */
  readonly cursor?: string;
}

export interface PeoplePage {
  readonly people: readonly Person[];
  /** `null`: this was the last page. */
  readonly next_cursor: string | null;
}

export interface NamesQuery {
  /** User ids, separated by commas; at most 200. */ readonly ids: string;
}

export interface Names {
  /** Id → email address, of the users that exist. */ readonly names: Readonly<Record<string, string | null>>;
}

export interface PersonDetails {
  readonly person: Person;
  readonly settings: { readonly isOpenNotification: boolean };
  readonly invitedBy: string | null;
  /** The number of users that this user has invited. */
  readonly invited: number;
  readonly sessionsEndedAt: string | null;
  /** `null`: the account is not blocked. */
  readonly block: { readonly actor: string; readonly reason: string } | null;
  /** The last used first; at most 50. */
  readonly sessions: readonly { readonly browser: string; readonly createdAt: string; readonly usedAt: string }[];
  /** Changes of plan and credits by operators, newest first; at most 50. */
  readonly changes: readonly {
    readonly id: string;
    readonly actor: string;
    readonly reason: string;
    readonly planBefore: string;
    readonly planAfter: string;
    readonly creditsBefore: number;
    readonly creditsAfter: number;
    readonly createdAt: string;
  }[];
  /** Actions of operators on this person, newest first; at most 50. */
  readonly actions: readonly {
    readonly at: string;
    readonly actor: string;
    readonly action: string;
    readonly outcome: string;
  }[];
}

export interface CreditsChange {
  /** Chosen by the caller. Repeating a request with the same id changes nothing. */ readonly changeId: string;
  readonly plan?: 'free' | 'basic' | 'basic_year' | 'pro' | 'pro_year' | 'max' | 'max_year';
  /** Added to the balance; may be negative. */
  readonly credits?: number;
  readonly reason: string;
}

export interface Person {
  readonly id: string;
  readonly email: string | null;
  readonly language: string | null;
  readonly plan: 'free' | 'basic' | 'basic_year' | 'pro' | 'pro_year' | 'max' | 'max_year';
  readonly credits: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** The last use of a session in a browser. */
  readonly activeAt: string | null;
  /** Since when the account is blocked. `null`: it is not. */
  readonly blockedAt: string | null;
}

export interface BlockOrder {
  /** Operators see it, and the user does not. */ readonly reason: string;
}

export interface ActionSearch {
  readonly limit?: number;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: number;
  /** Only actions on this user. */
  readonly userId?: string;
  /** Only actions of this operator. Ignores case. */
  readonly actor?: string;
  /** The first day, in UTC. */
  readonly from?: string;
  /** The last day, included. */
  readonly to?: string;
  /** Only actions that contain this text. Ignores case. */
  readonly action?: string;
  /** Only actions on this target, such as `incident <id>`. */
  readonly target?: string;
}

export interface ActionPage {
  readonly actions: readonly {
    readonly at: string;
    readonly actor: string;
    /** A command, or method and route. */
    readonly action: string;
    readonly target: string;
    /** `done`, or the code of the error. */
    readonly outcome: string;
    readonly requestId: string | null;
    /** The user, if an operator changed their credits around that time, or if they are among the 100 newest. */
    readonly userId: string | null;
    /** The change of plan or credits that the action made. */
    readonly change: {
      readonly id: string;
      readonly actor: string;
      readonly reason: string;
      readonly planBefore: string;
      readonly planAfter: string;
      readonly creditsBefore: number;
      readonly creditsAfter: number;
      readonly createdAt: string;
    } | null;
    /** Why the action blocked the account. */
    readonly reason: string | null;
  }[];
  /** `null`: this was the last page. A page searches 20,000 actions, so it can be empty although later pages have matches. */
  readonly next_cursor: string | null;
}

export interface OwnAccount {
  /** When the account is deleted. `null`: no deletion is scheduled. */ readonly deletesAt: string | null;
  /** `null`: there is none. */
  readonly export: AccountExport | null;
}

export interface ScheduledDeletion {
  /** When the account is deleted. */ readonly deletesAt: string;
}

export interface AccountExport {
  readonly status: 'preparing' | 'ready';
  /** Answers the ZIP archive when it is ready, to its user. Until then, it answers as this call. */
  readonly url: string;
  readonly requestedAt: string;
  readonly readyAt: string | null;
  /** When the archive is removed. `null`: it is being prepared. */
  readonly expiresAt: string | null;
}

export interface OwnSessions {
  /** The last used first; at most 100. */
  readonly sessions: readonly {
    readonly id: string;
    /** Such as `Firefox on Windows`. */
    readonly browser: string;
    /** When the user signed in, or when the session was first seen. */
    readonly createdAt: string;
    /** When the browser got its last access token. */
    readonly usedAt: string;
    /** Whether the access token of the request is of this session. */
    readonly isCurrent: boolean;
  }[];
}

export interface ErasureOrder {
  /** Whether the person gets `account_deletion.deleted`. */ readonly mail?: boolean;
}

export interface ErasureReport {
  readonly steps: readonly {
    readonly service: 'agent' | 'media' | 'memory' | 'notify' | 'auth';
    /** `waiting`: another service has to finish first. */
    readonly status: 'done' | 'failed' | 'waiting';
    /** The number of removed records of each kind. */
    readonly removed: Readonly<Record<string, number>>;
    /** The reason of the failure. */
    readonly message: string | null;
  }[];
  readonly isComplete: boolean;
  /** Jobs that still contain the id of the person. They end within minutes. */
  readonly pendingJobs: number;
  /** `not_configured`: delete the account at the identity provider yourself. */
  readonly provider: 'removed' | 'not_configured' | null;
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
  /** `local` ends only this session. */ readonly scope?: 'global' | 'local';
}

export interface SignedOut {
  readonly ok: true;
}
