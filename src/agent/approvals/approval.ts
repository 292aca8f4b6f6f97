/** A tool call that waits for a person's approval (docs/specification/agent.md#approvals). */
export interface PendingApproval {
  readonly approvalId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  /** What the call costs. */
  readonly credits: number;
}
