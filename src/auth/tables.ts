/** The tables of the authentication service, and those of people. */
import type { Generated, JSONColumnType } from 'kysely';
import type { PeopleTables } from '#accounts/people/peoplestore.ts';

/**
 * `requested`: the mail about the date was not sent yet. `announced`: it was. `erasing`: the deletion can no longer be taken
 * back. `erased`: the last mail is missing. `mailed`: jobs that mention the person have to end.
 */
export type Stage = 'requested' | 'announced' | 'erasing' | 'erased' | 'mailed';

/** A compressed file of JSON. */
export interface ExportFile {
  readonly name: string;
  readonly crc32: number;
  readonly bytes: number;
  readonly compressedBytes: number;
}

export interface AuthTables extends PeopleTables {
  session_refreshes: {
    token_hash: Buffer;
    attempt: string;
    outcome: 'ok' | 'expired' | 'unavailable' | 'signed_out' | null;
    sealed: string | null;
    successor_hash: Buffer | null;
    subject_hash: Buffer | null;
    expires_at: Date;
  };
  session_revocations: {
    id: Generated<string>;
    sealed: string;
    scope: Generated<'global' | 'local'>;
    created_at: Generated<Date>;
  };
  ended_sessions: { subject_hash: Buffer; ended_at: Date };
  browser_sessions: {
    session_id: string;
    user_id: string;
    browser: string;
    created_at: Generated<Date>;
    used_at: Generated<Date>;
    ended_at: Date | null;
  };
  account_deletions: {
    deletion_id: Generated<string>;
    user_id: string;
    email: string | null;
    language: string | null;
    mails: boolean;
    deletes_at: Date;
    stage: Stage;
  };
  account_exports: {
    export_id: Generated<string>;
    user_id: string;
    requested_at: Generated<Date>;
    ready_at: Date | null;
    expires_at: Date | null;
    is_mailed: Generated<boolean>;
    content_id: string | null;
    files: JSONColumnType<readonly ExportFile[]> | null;
  };
  account_export_parts: {
    export_id: string;
    content_id: string;
    file: string;
    number: number;
    bytes: Buffer;
  };
}
