/** What runs, videos, jobs and routes use. */

import type { Welcome } from '#accounts/store.ts';
import type { Values } from '#platform/config.ts';
import type { Db } from '#platform/db/db.ts';
import type { ActingClient } from '#platform/http/client.ts';
import type { Jobs } from '#platform/jobs/jobs.ts';
import type { Log } from '#platform/log.ts';
import type { PubSub } from '#platform/pubsub/pubsub.ts';
import type { Telemetry } from '#platform/telemetry/trace.ts';
import type { Webhooks } from '#webhooks/publishing.ts';
import type { Budget } from './budgets/api.ts';
import type { agentSettings } from './config.ts';
import type { DocumentReader } from './documents/pdftext.ts';
import type { EventLog } from './eventlog/eventlog.ts';
import type { Catalogue } from './generation/catalogue.ts';
import type { AgentMetrics } from './metrics.ts';
import type { PromptScreening } from './prompts/screening.ts';
import type { Models } from './providers/models.ts';
import type { EventWriterOptions } from './stream/eventwriter.ts';
import type { RunEventBuffers } from './stream/runbuffer.ts';
import type { AgentTables } from './tables.ts';
import type { ToolServers } from './toolservers/toolservers.ts';
import type { UserEvents } from './userevents/usereventstore.ts';

export interface AgentContext extends Values<typeof agentSettings> {
  readonly log: Log;
  readonly db: Db<AgentTables>;
  readonly jobs: Jobs;
  readonly pubsub: PubSub;
  readonly userEvents: UserEvents;
  readonly webhooks?: Webhooks | undefined;
  readonly welcome: Welcome;
  /** Of the media service, with the internal key. Calls for a user have that user's rights. */
  readonly media: ActingClient;
  /** Of the memory service, with the internal key. */
  readonly memory: ActingClient;
  /** The models of images and videos. */
  readonly catalogue: Catalogue;
  readonly models: Models;
  readonly prompts: PromptScreening;
  readonly documents: DocumentReader;
  /** AGENT_MCP_SERVERS. */
  readonly toolServers: ToolServers;
  readonly eventLog: EventLog;
  readonly buffers: RunEventBuffers;
  /** Of the runs of this process. */
  readonly lease: RunLease;
  /** Cancels the generations whose images this process makes, by id. */
  readonly underWay: Map<string, AbortController>;
  readonly metrics: AgentMetrics;
  readonly telemetry: Telemetry;
  /** Of the settings. Operators may have replaced them. */
  readonly budgets: readonly Budget[];
  /** Whether a model makes titles. */
  readonly makesTitles: boolean;
  readonly extractsMemories: boolean;
  /** How long a run or an MCP client waits for its video. After that, the message or the library has the result. */
  readonly videoWaitMs: number;
  /** For tests. */
  readonly writer?: Pick<EventWriterOptions, 'windowMs' | 'maxSize'>;
}

export interface RunLease {
  readonly holder: string;
  readonly leaseMs: number;
}
