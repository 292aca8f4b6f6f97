/** What a turn and its tools use. */

import type { LedgerTables } from '#accounts/ledger/credits.ts';
import type { Db } from '#platform/db/db.ts';
import type { Telemetry } from '#platform/telemetry/telemetry.ts';
import type { ApprovalSettings } from '../approvals/rules.ts';
import type { DocumentReader } from '../documents/pdftext.ts';
import type { CostTables } from '../generation/coststore.ts';
import type { AgentMetrics } from '../metrics.ts';
import type { MemoryDeps } from '../services/memory.ts';
import type { RunTables } from '../store/runstore.ts';
import type { VideoTables } from '../store/videostore.ts';
import type { ToolServers } from '../toolservers/toolservers.ts';
import type { VideoDeps } from '../videos/videos.ts';

export interface TurnContext extends VideoDeps, MemoryDeps {
  readonly telemetry: Telemetry;
  readonly metrics: AgentMetrics;
  /** AGENT_MAX_TOOL_CALLS_PER_STEP. */
  readonly maxToolCallsPerStep: number;
  readonly documents: DocumentReader;
  /** AGENT_MAX_STEPS. */
  readonly maxSteps: number;
  readonly db: Db<LedgerTables & RunTables & VideoTables & CostTables>;
  /** AGENT_INSTRUCTIONS. */
  readonly instructions: string | undefined;
  readonly approvals: ApprovalSettings;
  /** AGENT_MCP_SERVERS. */
  readonly toolServers: ToolServers;
  /** How long a run waits for its video. After that, the client reads the result from the message. */
  readonly videoWaitMs?: number;
}
