/** What the tools of the MCP server use. */

import type { Db } from '#platform/db/db.ts';
import type { AgentMetrics } from '../metrics.ts';
import type { MemoryDeps } from '../services/memory.ts';
import type { VideoTables } from '../store/videostore.ts';
import type { Identity } from '../toolservers/identity.ts';
import type { VideoDeps } from '../videos/videos.ts';
import type { CallDeps, CallTables, McpCalls } from './calls.ts';

export interface McpContext extends VideoDeps, MemoryDeps, CallDeps {
  readonly calls: McpCalls;
  /** IDP_URL. */
  readonly authorizationServer: string | undefined;
  readonly identity: Identity;
  readonly metrics: AgentMetrics;
  readonly db: Db<VideoTables & CallTables>;
  readonly videoWaitMs?: number | undefined;
}
