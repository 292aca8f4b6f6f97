/** The vocabulary of the memory service. Generated from its OpenAPI document by `npm run generate`. */

export interface InjectRequest {
  readonly entity_id: string;
  readonly entity_type: 'user' | 'group';
  /** Sent in group conversations; servers only. */
  readonly group_id?: string | null;
  /** The user's message. If empty, the response contains profiles and no memories. */
  readonly query: string;
  /** 1 to 100; 5 by default. */
  readonly limit?: number | null;
}

export interface Injection {
  readonly profile: Profile | null;
  readonly group_profile: Profile | null;
  /** Memories of the entity, and up to 3 of the group, by descending score. */
  readonly memories: readonly FoundMemory[];
  /** `true`: the embedder does not respond, so only the text was searched. */
  readonly degraded?: true;
}

export interface AdditionRequest {
  readonly entity_id: string;
  readonly entity_type: 'user' | 'group';
  readonly content: string;
  readonly type: 'preference' | 'workflow' | 'instruction' | 'episodic';
  readonly metadata?: Readonly<Record<string, unknown>> | null;
  /** The time of the statement. Default: now. */
  readonly said_at?: string | null;
  /** The thread of the statement. */
  readonly thread_id?: string | null;
}

export interface Addition {
  /** The id of the memory that contains the content. */ readonly id: string;
  /** Whether the content was merged into an existing memory. */
  readonly deduplicated: boolean;
}

export interface SearchRequest {
  readonly entity_id: string;
  readonly entity_type: 'user' | 'group';
  readonly query: string;
  /** 1 to 100; 10 by default. */
  readonly limit?: number | null;
  readonly type_filter?: 'preference' | 'workflow' | 'instruction' | 'episodic' | null;
}

export interface SearchResult {
  readonly memories: readonly FoundMemory[];
  /** `true`: the embedder does not respond, so only the text was searched. */
  readonly degraded?: true;
}

export interface MemoryEdit {
  readonly content: string;
  readonly type?: 'preference' | 'workflow' | 'instruction' | 'episodic' | null;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
}

export interface Memory {
  readonly id: string;
  readonly entity_id: string;
  readonly entity_type: 'user' | 'group';
  readonly type: 'preference' | 'workflow' | 'instruction' | 'episodic';
  readonly content: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  readonly updated_at: string;
  /** The time of the statement. Relative dates in the content count from it. */
  readonly said_at: string;
  /** The time of its replacement. `null`: it is valid. */
  readonly invalid_at: string | null;
  /** The memory that replaced it, unless that memory was deleted. */
  readonly replaced_by: string | null;
  /** Who added the statement. `model`: it was extracted from messages. `server`: a server, even on behalf of a user. `null`: unknown, for memories of earlier versions. */
  readonly added_by: 'user' | 'server' | 'operator' | 'model' | null;
  /** The thread of the statement. It can have been deleted since. */
  readonly thread_id: string | null;
}

export interface MemoryQuery {
  /** Required with X-Internal-Key. Default with a JWT: the id of the user. */ readonly entity_id?: string;
  /** As entity_id; `user` with a JWT. */
  readonly entity_type?: 'user' | 'group';
  readonly type?: 'preference' | 'workflow' | 'instruction' | 'episodic';
  /** `true`: includes replaced memories. */
  readonly include_invalid?: boolean | 'true' | 'false';
  /** 1 to 100. Default: 20. */
  readonly limit?: number;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string;
}

export interface Memories {
  readonly memories: readonly Memory[];
  readonly next_cursor: string | null;
}

export interface EntityQuery {
  /** Required with X-Internal-Key. Default with a JWT: the id of the user. */ readonly entity_id?: string;
  /** As entity_id; `user` with a JWT. */
  readonly entity_type?: 'user' | 'group';
}

export interface EntityExport {
  readonly entity_type: 'user' | 'group';
  readonly entity_id: string;
  readonly exported_at: string;
  /** When the pause began. `null`: it is not paused. */
  readonly paused_at: string | null;
  readonly profile: AdminProfile | null;
  readonly memories: readonly {
    readonly id: string;
    readonly entity_id: string;
    readonly entity_type: 'user' | 'group';
    readonly type: 'preference' | 'workflow' | 'instruction' | 'episodic';
    readonly content: string;
    readonly metadata: Readonly<Record<string, unknown>>;
    readonly created_at: string;
    readonly updated_at: string;
    /** The time of the statement. Relative dates in the content count from it. */
    readonly said_at: string;
    /** The time of its replacement. `null`: it is valid. */
    readonly invalid_at: string | null;
    /** The memory that replaced it, unless that memory was deleted. */
    readonly replaced_by: string | null;
    /** Who added the statement. `model`: it was extracted from messages. `server`: a server, even on behalf of a user. `null`: unknown, for memories of earlier versions. */
    readonly added_by: 'user' | 'server' | 'operator' | 'model' | null;
    /** The thread of the statement. It can have been deleted since. */
    readonly thread_id: string | null;
    readonly links: readonly { readonly id: string; readonly kind: 'related' | 'conflict' }[];
    readonly history: readonly Revision[];
  }[];
}

export interface EntityState {
  readonly entity_type: 'user' | 'group';
  readonly entity_id: string;
  /** When the pause began. `null`: it is not paused. */
  readonly paused_at: string | null;
}

export interface EntityChange {
  /** `true`: nothing new is remembered, and nothing that is known is used. `false`: ends the pause. */
  readonly paused: boolean;
}

export interface ExtractionRequest {
  /** Required with X-Internal-Key. Default with a JWT: the id of the user. */ readonly entity_id?: string;
  /** As entity_id; `user` with a JWT. */
  readonly entity_type?: 'user' | 'group';
  /** A part of a conversation, the oldest message first. */
  readonly messages: readonly { readonly role: 'user' | 'assistant' | 'system' | 'tool'; readonly content: string }[];
  /** The time when the messages were written. Default: now. If the entity has been erased since then, nothing is added. */
  readonly said_at?: string;
  /** The thread of the statement. */
  readonly thread_id?: string | null;
}

export interface Extraction {
  readonly memories: readonly {
    readonly id: string;
    readonly content: string;
    readonly type: 'preference' | 'workflow' | 'instruction' | 'episodic';
    /** `replaced`: an older memory was replaced by it. `none`: the same text already existed. */
    readonly action: 'added' | 'merged' | 'replaced' | 'none';
  }[];
}

export interface MemoryListing {
  readonly entity_id?: string;
  readonly entity_type?: 'user' | 'group';
  readonly type?: 'preference' | 'workflow' | 'instruction' | 'episodic';
  /** A part of the content. Ignores case. */
  readonly q?: string;
  /** `true`: includes replaced memories. */
  readonly include_invalid?: boolean | 'true' | 'false';
  /** 1 to 100. Default: 20. */
  readonly limit?: number;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string;
}

export interface MemoryPage {
  readonly memories: readonly AdminMemory[];
  readonly next_cursor: string | null;
}

export interface AdminMemory {
  readonly id: string;
  readonly entity_id: string;
  readonly entity_type: 'user' | 'group';
  readonly type: 'preference' | 'workflow' | 'instruction' | 'episodic';
  readonly content: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  readonly updated_at: string;
  /** The time of the statement. Relative dates in the content count from it. */
  readonly said_at: string;
  /** The time of its replacement. `null`: it is valid. */
  readonly invalid_at: string | null;
  /** The memory that replaced it, unless that memory was deleted. */
  readonly replaced_by: string | null;
  /** Who added the statement. `model`: it was extracted from messages. `server`: a server, even on behalf of a user. `null`: unknown, for memories of earlier versions. */
  readonly added_by: 'user' | 'server' | 'operator' | 'model' | null;
  /** The thread of the statement. It can have been deleted since. */
  readonly thread_id: string | null;
  readonly links: readonly { readonly id: string; readonly kind: 'related' | 'conflict' }[];
}

export interface OperatorEdit {
  readonly content?: string | null;
  readonly type?: 'preference' | 'workflow' | 'instruction' | 'episodic' | null;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
}

export interface MemoryHistory {
  /** The newest first. */ readonly history: readonly Revision[];
}

export interface ProfileListing {
  /** A part of the entity id, the summary or a fact. Ignores case. */ readonly q?: string;
  /** 1 to 100. Default: 20. */
  readonly limit?: number;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string;
}

export interface ProfilePage {
  readonly profiles: readonly AdminProfile[];
  readonly next_cursor: string | null;
}

export interface AdminProfile {
  readonly entity_id: string;
  readonly entity_type: 'user' | 'group';
  readonly summary: string | null;
  readonly facts: Readonly<Record<string, string>>;
  /** The memories that each derived fact comes from. Without them, the fact disappears. */
  readonly evidence: Readonly<Record<string, readonly string[]>>;
  readonly language: string | null;
  readonly updated_at: string;
  /** Facts that operators wrote. */
  readonly locked: readonly string[];
  /** Facts from memories, with their source memories. */
  readonly derived: Readonly<Record<string, { readonly value: string; readonly evidence: readonly string[] }>>;
}

export interface ProfileEdit {
  readonly summary?: string | null;
  readonly facts?: Readonly<Record<string, string>> | null;
  readonly language?: string | null;
}

export interface Profile {
  readonly entity_id: string;
  readonly entity_type: 'user' | 'group';
  readonly summary: string | null;
  readonly facts: Readonly<Record<string, string>>;
  /** The memories that each derived fact comes from. Without them, the fact disappears. */
  readonly evidence: Readonly<Record<string, readonly string[]>>;
  readonly language: string | null;
  readonly updated_at: string;
}

export interface FoundMemory {
  readonly id: string;
  readonly entity_id: string;
  readonly entity_type: 'user' | 'group';
  readonly type: 'preference' | 'workflow' | 'instruction' | 'episodic';
  readonly content: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  readonly updated_at: string;
  /** The time of the statement. Relative dates in the content count from it. */
  readonly said_at: string;
  /** Only in searches of the user. */
  readonly added_by?: 'user' | 'server' | 'operator' | 'model' | null;
  /** Only in searches of the user. */
  readonly thread_id?: string | null;
  /** Higher scores are more relevant to the query. */
  readonly score: number;
  /** `true`: the query did not find it. It is one of the newest instructions and preferences. */
  readonly fallback?: true;
  /** The day, month, year or range of days (`2026-03-09/2026-03-15`) that a relative date of the content means. */
  readonly when?: string;
}

export interface Revision {
  /** From 1. */ readonly number: number;
  /** `replace`: another memory has replaced it. */
  readonly action: 'merge' | 'edit' | 'replace';
  readonly actor: 'user' | 'server' | 'operator' | 'model';
  readonly before: {
    readonly content: string;
    readonly type: 'preference' | 'workflow' | 'instruction' | 'episodic';
    readonly metadata: Readonly<Record<string, unknown>>;
  };
  readonly after: {
    readonly content: string;
    readonly type: 'preference' | 'workflow' | 'instruction' | 'episodic';
    readonly metadata: Readonly<Record<string, unknown>>;
  };
  /** For a merge, the added content. For a replacement, the other memory. */
  readonly incoming: {
    readonly content: string;
    readonly type: 'preference' | 'workflow' | 'instruction' | 'episodic';
    readonly metadata: Readonly<Record<string, unknown>>;
  } | null;
  readonly similarity: number | null;
  readonly embedder: string;
  /** The reason of the decision of the language model. */
  readonly reason: string | null;
  readonly undone: boolean;
  readonly created_at: string;
}
