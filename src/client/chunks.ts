/** The chunks of a run's stream: those of the AI SDK's UI message stream (v5) that the agent service sends. */

/** The format of the model's provider. */
type ProviderMetadata = Record<string, Record<string, JsonValue>>;
type JsonValue = null | string | number | boolean | { [key: string]: JsonValue | undefined } | JsonValue[];

interface OfTool {
  readonly toolCallId: string;
  readonly providerExecuted?: boolean;
  readonly dynamic?: boolean;
}

export type RunChunk =
  | { readonly type: 'start'; readonly messageId?: string; readonly messageMetadata?: unknown }
  | { readonly type: 'start-step' | 'finish-step' | 'abort' }
  | { readonly type: 'message-metadata'; readonly messageMetadata: unknown }
  | { readonly type: 'finish'; readonly messageMetadata?: unknown }
  | { readonly type: 'error'; readonly errorText: string }
  | {
      readonly type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end';
      readonly id: string;
      readonly providerMetadata?: ProviderMetadata;
    }
  | {
      readonly type: 'text-delta' | 'reasoning-delta';
      readonly id: string;
      readonly delta: string;
      readonly providerMetadata?: ProviderMetadata;
    }
  | (OfTool & { readonly type: 'tool-input-start'; readonly toolName: string })
  | { readonly type: 'tool-input-delta'; readonly toolCallId: string; readonly inputTextDelta: string }
  | (OfTool & {
      readonly type: 'tool-input-available';
      readonly toolName: string;
      readonly input: unknown;
      readonly providerMetadata?: ProviderMetadata;
    })
  | (OfTool & {
      readonly type: 'tool-input-error';
      readonly toolName: string;
      readonly input: unknown;
      readonly errorText: string;
      readonly providerMetadata?: ProviderMetadata;
    })
  | (OfTool & { readonly type: 'tool-output-available'; readonly output: unknown; readonly preliminary?: boolean })
  /** The call waits for a person (SDK 6 and newer). Its price is in the chunk `data-approval`. */
  | { readonly type: 'tool-approval-request'; readonly approvalId: string; readonly toolCallId: string }
  | { readonly type: 'tool-output-denied'; readonly toolCallId: string }
  | (OfTool & { readonly type: 'tool-output-error'; readonly errorText: string })
  | { readonly type: `data-${string}`; readonly id?: string; readonly data: unknown };
