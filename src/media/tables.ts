/** The tables of the media service, and the ledger: the transaction that makes a paid asset readable also charges for it. */
import { type Generated, type JSONColumnType, sql } from 'kysely';
import type { LedgerTables } from '#accounts/ledger/credits.ts';
import type { Db, Tx } from '#platform/db/db.ts';
import type { Generated as Mark } from '#platform/metadata/xmp.ts';
import type { Lineage } from './api.ts';
import type { Decision, Incident } from './incidents/api.ts';
import type { Refusal } from './problems.ts';
import type { reportReasons } from './reports/api.ts';
import type { Label } from './screening/labels.ts';
import type { Match } from './screening/screening.ts';
import type { TaskStatus } from './tasks/api.ts';

/** The file that browsers play: the original, or the rendition beside it (docs/specification/media.md#renditions). */
export type Playback = 'original' | 'rendition';

export type Metadata = Readonly<Record<string, unknown>>;

/** A message of a shared conversation. Its media are looked up when the page is read. */
export interface SnapshotMessage {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly SnapshotPart[];
}

export type SnapshotPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'media'; readonly assetId: string }
  | { readonly type: 'source'; readonly url: string; readonly title: string };

export interface Snapshot {
  readonly title: string | null;
  readonly messages: readonly SnapshotMessage[];
}

// A shared collection is a conversation without texts. Ids of threads have no colon, so this takes the place of its id.

const prefix = 'album:';
export const keyOfCollection = (collectionId: string): string => prefix + collectionId;
/** `null`: it is a thread. */
export const collectionOf = (threadId: string | null): string | null =>
  threadId?.startsWith(prefix) ? threadId.slice(prefix.length) : null;

/** Of shares: neither expired nor hidden by a decision of operators. */
export const isLive = sql<boolean>`(hidden_at is null and (expires_at is null or expires_at > now()))`;

export interface MediaTables extends LedgerTables {
  assets: {
    asset_id: string;
    owner_id: string;
    scope_kind: string;
    scope_id: string;
    kind: string;
    requested_mime: string;
    mime: string;
    backend: 'objects' | 'legacy';
    bucket: string;
    storage_key: string;
    etag: string;
    byte_size: number;
    sha256: string | null;
    md5: string | null;
    pdq: string | null;
    pdq_quality: number | null;
    width: number | null;
    height: number | null;
    duration_ms: number | null;
    blurhash: string | null;
    animated: boolean | null;
    thumb_asset_id: string | null;
    playback: Playback | null;
    prompt: string | null;
    prompt_search: string | null;
    model: string | null;
    generated: Mark | null;
    name: string | null;
    is_favorite: Generated<boolean>;
    generation: JSONColumnType<Lineage> | null;
    /** The references of `generation`. */
    derived_from: string[] | null;
    /** Of the same owner. Never a copy itself. */
    copied_from: string | null;
    version: Generated<number>;
    created_at: Generated<Date>;
    ready_at: Date | null;
    screened_at: Date | null;
    labels: JSONColumnType<readonly Label[]> | null;
    restricted_at: Date | null;
    trashed_at: Generated<Date | null>;
    refusal: Refusal | null;
  };
  upload_reservations: {
    storage_key: string;
    declared_bytes: number;
    asset_id: string;
    owner_id: string;
    byte_size: number;
    held_bytes: number;
    upload_id: string;
    seen_at: Date | null;
    expires_at: Date;
  };
  media_tasks: {
    task_id: string;
    owner_id: string;
    media_type: string;
    status: TaskStatus;
    metadata: Metadata;
    run_id: string | null;
    asset_id: string | null;
    storage_key: string | null;
    created_at: Date;
    updated_at: Date;
  };
  screening_incidents: {
    incident_id: Generated<string>;
    /** `null`: a conversation. */
    asset_id: string | null;
    owner_id: string;
    scope_kind: string;
    scope_id: string;
    kind: string;
    mime: string;
    byte_size: number;
    etag: string;
    sha256: string;
    md5: string;
    pdq: string | null;
    pdq_quality: number | null;
    /** `report`: people reported it. `flag`: a rule about labels. Neither blocked it. */
    check_name: Match['check'] | 'report' | 'flag';
    list: string;
    listed: string | null;
    distance: number | null;
    origin: string | null;
    created_at: Generated<Date>;
    status: Generated<Incident['status']>;
    resolved_at: Date | null;
    note: string | null;
    appeal: string | null;
    appealed_at: Date | null;
    thread_id: string | null;
    share_id: string | null;
    /** The asset that the reported one was copied from. */
    source_id: string | null;
    reports: Generated<number>;
    is_priority: Generated<boolean>;
    decision: Decision | null;
    statement: string | null;
    earlier: Generated<Incident['earlier']>;
    /** Of the content when the incident began, and when it was decided about. */
    title: string | null;
    generation: Lineage | null;
    evidence_until: Date | null;
  };
  rescreenings: {
    is_only: boolean;
    started_at: Date;
    finished_at: Date | null;
    total: number;
    checked: number;
    blocked: number;
    without_digests: number;
  };
  content_reports: {
    report_id: Generated<string>;
    incident_id: string;
    reporter: string;
    target: string;
    reporter_id: string | null;
    reason: (typeof reportReasons)[number];
    note: string | null;
    contact: string | null;
    language: string | null;
    created_at: Generated<Date>;
  };
  report_counts: { reporter: string; since: Generated<Date>; count: Generated<number> };
  shares: {
    share_id: string;
    owner_id: string;
    asset_id: string | null;
    thread_id: string | null;
    snapshot: Snapshot | null;
    show_prompt: boolean;
    is_indexed: boolean;
    show_attachments: boolean;
    author: string | null;
    created_at: Generated<Date>;
    expires_at: Date | null;
    /** `null`: at its creation. */
    shown_at: Generated<Date | null>;
    /** Operators restricted what it shows. */
    hidden_at: Generated<Date | null>;
  };
}

export type Handle = Db<MediaTables> | Tx<MediaTables>;
