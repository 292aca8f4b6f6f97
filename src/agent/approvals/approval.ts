import type { ToolCall } from '../tools/context.ts';

/** A tool call that waits for a person's approval (docs/specification/agent.md#approvals). */
export interface PendingApproval extends ToolCall {
  readonly approvalId: string;
  /** What the call costs. */
  readonly credits: number;
}
