/** Which tool calls a person has to approve first (docs/specification/agent.md#approvals). */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '#platform/json.ts';
import { type Catalogue, type MediaModel, modelOfRow } from '../generation/catalogue.ts';
import type { RunOptions } from '../tables.ts';
import type { ToolCall } from '../tools/context.ts';
import type { ForeignTool } from '../toolservers/toolservers.ts';

/** AGENT_TOOL_APPROVAL: names of tools, or beginnings of names with `*` at the end. */
const rules = z.record(z.string().regex(/^(?:[A-Za-z0-9_-]{1,64}\*?|\*)$/), z.boolean());
type ToolApproval = Readonly<z.output<typeof rules>>;

interface ApprovalSettings {
  readonly toolApproval: ToolApproval;
  /** AGENT_APPROVAL_CREDITS. 0: a price never needs one. */
  readonly approvalCredits: number;
  readonly catalogue: Catalogue;
}

const mediaOf: Readonly<Record<string, keyof Catalogue>> = {
  generateImage: 'images',
  editImage: 'images',
  generateVideo: 'videos',
};

/** The model that the input or the run names, and what the call costs at most with it and the number of its input. */
export function orderedBy(
  catalogue: Catalogue,
  { toolName, input }: Pick<ToolCall, 'toolName' | 'input'>,
  { imageModel, videoModel, count = 1 }: NonNullable<RunOptions['media']> = {},
): Pick<PendingApproval, 'credits' | 'model'> {
  const kind = Object.hasOwn(mediaOf, toolName) ? mediaOf[toolName] : undefined;
  if (kind === undefined) return { credits: 0 };
  const { model, n = count } = (input ?? {}) as { model?: string | null; n?: number };
  const chosen = model ?? (kind === 'images' ? imageModel : videoModel) ?? null;
  const { id, credits } = modelOfRow<MediaModel>(catalogue[kind], chosen);
  return { model: id, credits: credits * (kind === 'images' ? n : 1) };
}

/** `undefined`: the call needs no approval. */
export function approvalOf(
  { toolApproval, approvalCredits, catalogue }: ApprovalSettings,
  foreign: readonly ForeignTool[],
  { toolCallId, toolName, input }: ToolCall,
  media?: RunOptions['media'],
): PendingApproval | undefined {
  const order = orderedBy(catalogue, { toolName, input }, media);
  const isDestructive = foreign.some(({ name, isDestructive }) => name === toolName && isDestructive);
  const asks = ruleFor(toolApproval, toolName) ?? isDestructive;
  const isCostly = approvalCredits > 0 && order.credits >= approvalCredits;
  return asks || isCostly ? { approvalId: randomUUID(), toolCallId, toolName, input, ...order } : undefined;
}

/** The name itself decides, then the longest beginning. */
function ruleFor(rules: ToolApproval, name: string): boolean | undefined {
  if (Object.hasOwn(rules, name)) return rules[name];
  const [longest] = Object.keys(rules)
    .filter((rule) => rule.endsWith('*') && name.startsWith(rule.slice(0, -1)))
    .toSorted((one, other) => other.length - one.length);
  return longest === undefined ? undefined : rules[longest];
}

/** Throws an Error with what the setting must be. */
export function readToolApproval(raw: string): ToolApproval {
  const { data } = rules.safeParse(parseJson(raw));
  if (data === undefined)
    throw new Error('must be a JSON object: the name of a tool, or its beginning with * at the end → true or false');
  return data;
}

/** A tool call that waits for a person's approval (docs/specification/agent.md#approvals). */
export interface PendingApproval extends ToolCall {
  readonly approvalId: string;
  /** What the call costs. */
  readonly credits: number;
  /** The id of the model that makes its images or its video. */
  readonly model?: string;
}
