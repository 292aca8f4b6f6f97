/** The calls of the auth service. Generated from its OpenAPI document by `npm run generate`. */
import { type Access, addressOf, type CallOptions, callFile, callJson, callVoid, queryOf } from '../calling.ts';
import { operationsOf } from '../operations.ts';
import type {
  AccessToken,
  AccountExport,
  ActionListing,
  ActionPage,
  ActionSearch,
  BlockOrder,
  CreditsChange,
  CreditsGrant,
  ErasureOrder,
  ErasureReport,
  GrantedProfile,
  Names,
  NamesQuery,
  OperatorActions,
  OwnAccount,
  OwnSessions,
  PeopleListing,
  PeoplePage,
  Person,
  PersonDetails,
  ScheduledDeletion,
  SeededAccounts,
  SignedOut,
  SignInReturn,
  SignInStart,
  SignOut,
} from './api.ts';

export type AuthCalls = ReturnType<typeof authCalls>;

export function authCalls(access: Access) {
  return {
    ...operationsOf(access),
    /** Start a sign-in (`GET /login`). */
    loginUrl: (query?: SignInStart): string => addressOf(access, `/login${queryOf(query)}`),

    /** Complete a sign-in (`GET /callback`). */
    callbackUrl: (query?: SignInReturn): string => addressOf(access, `/callback${queryOf(query)}`),

    /** Set the plan and the credits of a user (`PUT /v1/accounts/credits`). */
    setCredits: (body: CreditsGrant, options?: CallOptions): Promise<GrantedProfile> =>
      callJson(access, { method: 'PUT', path: '/v1/accounts/credits', body, repeatable: true }, options),

    /** Create sample users and feeds (`POST /v1/accounts/seed`). */
    seedAccounts: (options?: CallOptions): Promise<SeededAccounts> =>
      callJson(access, { method: 'POST', path: '/v1/accounts/seed', repeatable: true }, options),

    /** List the actions of operators, newest first (`GET /v1/accounts/actions`). */
    listOperatorActions: (query?: ActionListing, options?: CallOptions): Promise<OperatorActions> =>
      callJson(access, { method: 'GET', path: '/v1/accounts/actions', query, repeatable: true }, options),

    /** Find users by id or email address (`GET /v1/people`). */
    listPeople: (query?: PeopleListing, options?: CallOptions): Promise<PeoplePage> =>
      callJson(access, { method: 'GET', path: '/v1/people', query, repeatable: true }, options),

    /** Read the email addresses of users (`GET /v1/people/names`). */
    readNames: (query: NamesQuery, options?: CallOptions): Promise<Names> =>
      callJson(access, { method: 'GET', path: '/v1/people/names', query, repeatable: true }, options),

    /** Read a user (`GET /v1/people/:userId`). */
    readPerson: (userId: string, options?: CallOptions): Promise<PersonDetails> =>
      callJson(access, { method: 'GET', path: `/v1/people/${encodeURIComponent(userId)}`, repeatable: true }, options),

    /** Change the credits or the plan of a user (`POST /v1/people/:userId/credits`). */
    changeCredits: (userId: string, body: CreditsChange, options?: CallOptions): Promise<Person> =>
      callJson(
        access,
        { method: 'POST', path: `/v1/people/${encodeURIComponent(userId)}/credits`, body, repeatable: true },
        options,
      ),

    /** Block the account of a user (`POST /v1/people/:userId/block`). */
    blockPerson: (userId: string, body: BlockOrder, options?: CallOptions): Promise<Person> =>
      callJson(
        access,
        { method: 'POST', path: `/v1/people/${encodeURIComponent(userId)}/block`, body, repeatable: true },
        options,
      ),

    /** Unblock the account of a user (`DELETE /v1/people/:userId/block`). */
    unblockPerson: (userId: string, options?: CallOptions): Promise<Person> =>
      callJson(
        access,
        { method: 'DELETE', path: `/v1/people/${encodeURIComponent(userId)}/block`, repeatable: true },
        options,
      ),

    /** Record that an operator exports the data of a user (`POST /v1/people/:userId/exports`). */
    recordExport: (userId: string, options?: CallOptions): Promise<void> =>
      callVoid(
        access,
        { method: 'POST', path: `/v1/people/${encodeURIComponent(userId)}/exports`, repeatable: false },
        options,
      ),

    /** Search the audit log of operators, newest first (`GET /v1/actions`). */
    listActions: (query?: ActionSearch, options?: CallOptions): Promise<ActionPage> =>
      callJson(access, { method: 'GET', path: '/v1/actions', query, repeatable: true }, options),

    /** End the sessions of a user (`DELETE /v1/people/:userId/sessions`). */
    endSessions: (userId: string, options?: CallOptions): Promise<void> =>
      callVoid(
        access,
        { method: 'DELETE', path: `/v1/people/${encodeURIComponent(userId)}/sessions`, repeatable: true },
        options,
      ),

    /** Read the state of your own account (`GET /account`). */
    readAccount: (options?: CallOptions): Promise<OwnAccount> =>
      callJson(access, { method: 'GET', path: '/account', repeatable: true }, options),

    /** Delete your own account (`DELETE /account`). */
    deleteAccount: (options?: CallOptions): Promise<ScheduledDeletion> =>
      callJson(access, { method: 'DELETE', path: '/account', repeatable: true }, options),

    /** Order a copy of your own data (`GET /account/export`). */
    exportAccount: (options?: CallOptions): Promise<AccountExport> =>
      callJson(access, { method: 'GET', path: '/account/export', repeatable: true }, options),

    /** Download the copy of your own data (`GET /account/export/zip`). */
    downloadExport: (options?: CallOptions): Promise<Blob> =>
      callFile(access, { method: 'GET', path: '/account/export/zip', repeatable: true }, options),

    /** Keep your own account (`POST /account/restore`). */
    restoreAccount: (options?: CallOptions): Promise<void> =>
      callVoid(access, { method: 'POST', path: '/account/restore', repeatable: true }, options),

    /** List your own sessions (`GET /account/sessions`). */
    listSessions: (options?: CallOptions): Promise<OwnSessions> =>
      callJson(access, { method: 'GET', path: '/account/sessions', repeatable: true }, options),

    /** End your other sessions (`DELETE /account/sessions`). */
    endOtherSessions: (options?: CallOptions): Promise<void> =>
      callVoid(access, { method: 'DELETE', path: '/account/sessions', repeatable: true }, options),

    /** End one of your own sessions (`DELETE /account/sessions/:id`). */
    endSession: (id: string, options?: CallOptions): Promise<void> =>
      callVoid(
        access,
        { method: 'DELETE', path: `/account/sessions/${encodeURIComponent(id)}`, repeatable: true },
        options,
      ),

    /** Erase a user from all services (`POST /people/:userId/erasure`). */
    eraseEverywhere: (userId: string, body: ErasureOrder, options?: CallOptions): Promise<ErasureReport> =>
      callJson(
        access,
        { method: 'POST', path: `/people/${encodeURIComponent(userId)}/erasure`, body, repeatable: true },
        options,
      ),

    /** Exchange the session cookie for an access token (`POST /refresh`). */
    refresh: (options?: CallOptions): Promise<AccessToken> =>
      callJson(access, { method: 'POST', path: '/refresh', repeatable: true, cookies: true }, options),

    /** Sign out (`POST /logout`). */
    logout: (query?: SignOut, options?: CallOptions): Promise<SignedOut> =>
      callJson(access, { method: 'POST', path: '/logout', query, repeatable: true, cookies: true }, options),
  };
}
