/** What the agent did: one card for each call of a tool. */
import type { UIMessage } from 'ai';
import { Brain, Clapperboard, ImagePlus, type LucideIcon, Paintbrush, Search, Trash2, Wrench } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { quotientOf } from '../create/order.ts';
import { useForgetting, useMemories } from '../knowledge/facts.ts';
import { Elapsed } from '../parts/elapsed.tsx';
import { isInProgress, isMedia, Media, type MediaOutput } from './media.tsx';

export interface ToolPart {
  readonly type: string;
  readonly toolCallId: string;
  readonly state: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly errorText?: string;
  readonly approval?: unknown;
}

export interface Approval {
  readonly id: string;
  readonly state: 'asked' | 'approved' | 'denied';
  /** Of the call, once it is carried out. */
  readonly credits: number;
  /** The id of the model that makes its images or its video. */
  readonly model: string;
}

/** `undefined`: the call needs no answer, or was carried out. */
export function approvalOf(part: ToolPart, parts: readonly UIMessage['parts'][number][]): Approval | undefined {
  const id: unknown = Reflect.get(Object(part.approval), 'id');
  if (typeof id !== 'string') return undefined;
  const { credits = 0, model = '' }: Partial<Approval> =
    parts
      .filter(({ type }) => type === 'data-approval')
      .map((other) => ('data' in other ? Object(other.data) : {}))
      .find(({ approvalId }) => approvalId === id) ?? {};
  const order = { id, credits, model };
  if (part.state === 'approval-requested') return { ...order, state: 'asked' };
  if (part.state === 'output-denied') return { ...order, state: 'denied' };
  if (part.state !== 'approval-responded') return undefined;
  return { ...order, state: Reflect.get(Object(part.approval), 'approved') === true ? 'approved' : 'denied' };
}

/** What it is about to do, does, has done, and has not done. */
export type Words = readonly [asks: string, busy: string, done: string, failed: string, Icon: LucideIcon];

const tools: Readonly<Record<string, Words>> = {
  generateImage: ['Generate an image', 'Generating an image', 'Generated an image', 'No image was made', ImagePlus],
  editImage: ['Edit an image', 'Editing an image', 'Edited an image', 'The image was not edited', Paintbrush],
  generateVideo: ['Generate a video', 'Generating a video', 'Generated a video', 'No video was made', Clapperboard],
  saveMemory: ['Remember', 'Remembering', 'Remembered', 'Nothing was remembered', Brain],
  recallMemory: ['Search memory', 'Searching memory', 'Searched memory', 'Memory was not searched', Search],
  forgetMemory: ['Forget', 'Forgetting', 'Forgot', 'Nothing was forgotten', Trash2],
};

/** `get_weather` → `get weather`. */
const namedBySetting = (name: string): Words => {
  const named = name.replaceAll('_', ' ');
  return [`Use ${named}`, `Using ${named}`, `Used ${named}`, `${named} failed`, Wrench];
};

export function wordsOf({ type }: ToolPart): Words {
  const name = type.replace('tool-', '');
  return tools[name] ?? namedBySetting(name);
}

export interface ToolProps {
  readonly part: ToolPart;
  /** The user's message. A prompt that repeats it is not shown. */
  readonly question: string;
  /** The newest state of the video that the call ordered. */
  readonly video: MediaOutput | undefined;
  /** Requests the whole answer again. */
  readonly onAgain: (() => void) | undefined;
}

export function Tool({ part, question, video, onAgain }: ToolProps) {
  const [, busy, done, failed, Icon] = wordsOf(part);
  const output = video ?? part.output;
  const media = isMedia(output) ? output : undefined;
  const refusal = field(output, 'failure');
  const failure = part.errorText ?? textOf(refusal, 'message');
  const isCalled = part.state === 'input-streaming' || part.state === 'input-available';
  const isBusy = isCalled || (media !== undefined && isInProgress(media));
  const hasFailed = !isBusy && (failure !== undefined || media?.status === 'failed');
  const isMaking = isCalled && /^tool-(generate|edit)Image$/.test(part.type);
  const { count, ratio } = orderedBy(part.input);
  const number = isMaking ? count : (media?.assetIds?.length ?? 1);
  // Without an answer of the memory, the fact may be stored nevertheless.
  const isUnknown = /Memory$/.test(part.type) && field(refusal, 'retryable') === true;
  const ended = !hasFailed ? done : isUnknown ? 'Memory did not respond' : failed;
  const title = (isBusy ? busy : ended).replace('an image', number > 1 ? `${number} images` : 'an image');
  const prompt = textOf(part.input, 'prompt') ?? textOf(part.input, 'content') ?? textOf(part.input, 'query');
  const isRepeated = prompt !== undefined && prompt.trim() === question.trim();
  return (
    <section
      className={`tool ${media || isMaking ? 'hasmedia' : ''} ${ratio < 1 ? 'tall' : ''}`}
      aria-label={`${title}${prompt ? `: ${prompt.slice(0, 120)}` : ''}`}
      // The places of the images have it until they are loaded.
      ref={(box) => box?.style.setProperty('--ratio', String(ratio))}
    >
      <p className={`toolname ${isBusy ? 'busy' : ''}`}>
        <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
        {isBusy ? `${title} …` : title}
      </p>
      {prompt && !isRepeated && <p className="quiet small">{prompt}</p>}
      {isMaking && <Making count={count} />}
      {media ? (
        <Media output={media} prompt={prompt ?? done} onAgain={onAgain} />
      ) : (
        failure && <p className="problem small">{failure}</p>
      )}
      <Recalled output={output} />
      {part.type === 'tool-saveMemory' && textOf(output, 'memoryId') && <Remembered output={output} content={prompt} />}
    </section>
  );
}

function Recalled({ output }: { readonly output: unknown }) {
  const memories = field(output, 'memories');
  if (!Array.isArray(memories)) return null;
  if (memories.length === 0) return <p className="quiet small">Nothing was found.</p>;
  return (
    <ul className="recalled">
      {memories.map((memory) => (
        <li key={String(memory)}>{String(memory)}</li>
      ))}
    </ul>
  );
}

/** Of a fact that this call has stored. It can be forgotten while it is among the newest. */
function Remembered({ output, content }: { readonly output: unknown; readonly content: string | undefined }) {
  const id = field(output, 'memoryId');
  const { data, hasNextPage, isFetchedAfterMount } = useMemories();
  const facts = data?.pages.flatMap(({ memories }) => memories);
  // An undo stores the same content with another id.
  const fact = facts?.find((one) => one.id === id || one.content === content);
  const forget = useForgetting();
  return (
    <div className="links">
      {isFetchedAfterMount && !fact && !hasNextPage && <span className="gone-since">Forgotten or replaced since.</span>}
      {fact && field(output, 'deduplicated') === false && (
        <button type="button" onClick={() => void forget(fact)}>
          Undo
        </button>
      )}
      <Link href="/memory">See all facts</Link>
    </div>
  );
}

const field = (value: unknown, name: string): unknown => Reflect.get(Object(value), name);

function textOf(value: unknown, name: string): string | undefined {
  const text = field(value, name);
  return typeof text === 'string' ? text : undefined;
}

// Images that a tool is making: a place in their shape for each, until they are there.

/** `input`: of the call, as far as the model has written it. */
function orderedBy(input: unknown) {
  // The service uses the choice of the composer where the model names nothing.
  const chosen: unknown = JSON.parse(localStorage.getItem('atelier.media') ?? '{}');
  const ratio = String(field(input, 'ratio') ?? field(chosen, 'ratio') ?? '1:1');
  const count = Math.min(4, Math.max(1, Number(field(input, 'n') ?? field(chosen, 'count') ?? 1)));
  return { count, ratio: /^\d+:\d+$/.test(ratio) ? quotientOf(ratio) : 1 };
}

function Making({ count }: { readonly count: number }) {
  const [sinceMs] = useState(Date.now);
  return (
    <div className={`images of${count}`}>
      {[1, 2, 3, 4].slice(0, count).map((number) => (
        <div key={number} className="place">
          <Elapsed sinceMs={sinceMs} what={count === 1 ? 'image' : `image ${number}`} />
        </div>
      ))}
    </div>
  );
}
