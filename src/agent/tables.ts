/** The tables of the agent service. */
import type { LedgerTables } from '#accounts/ledger/credits.ts';
import type { ApprovalTables } from './approvals/approvalstore.ts';
import type { UnreadableTables } from './documents/unreadablestore.ts';
import type { GenerationTables } from './generation/generationstore.ts';
import type { StepTables } from './steps/stepstore.ts';
import type { EventTables } from './store/eventstore.ts';
import type { StartTables } from './store/startstore.ts';
import type { ToolCallTables } from './store/toolcallstore.ts';
import type { CancelTables, UsageTables } from './store/usagestore.ts';
import type { UserEventTables } from './store/usereventstore.ts';
import type { VideoTables } from './store/videostore.ts';
import type { SigningKeyTables } from './toolservers/signingkeystore.ts';

export interface AgentTables
  extends LedgerTables,
    ApprovalTables,
    CancelTables,
    EventTables,
    GenerationTables,
    SigningKeyTables,
    StartTables,
    StepTables,
    ToolCallTables,
    UnreadableTables,
    UsageTables,
    UserEventTables,
    VideoTables {}
