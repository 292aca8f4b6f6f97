/** What the agent did: one card for each call of a tool. */
import { Brain, Clapperboard, ImagePlus, type LucideIcon, Paintbrush, Search, Trash2, Wrench } from 'lucide-react';
import { useState } from 'react';
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

interface Words {
  /** What it is about to do. */
  readonly asks: string;
  readonly busy: string;
  readonly done: string;
  readonly failed: string;
  readonly Icon: LucideIcon;
}

const words = (asks: string, busy: string, done: string, failed: string, Icon: LucideIcon): Words => ({
  ...{ asks, busy, done, failed, Icon },
});

const tools: Readonly<Record<string, Words>> = {
  generateImage: words(
    'Generate an image',
    'Generating an image',
    'Generated an image',
    'No image was generated',
    ImagePlus,
  ),
  editImage: words('Edit an image', 'Editing an image', 'Edited an image', 'The image was not edited', Paintbrush),
  generateVideo: words(
    'Generate a video',
    'Generating a video',
    'Generated a video',
    'No video was generated',
    Clapperboard,
  ),
  saveMemory: words('Remember', 'Remembering', 'Remembered', 'Nothing was remembered', Brain),
  recallMemory: words('Search memory', 'Searching memory', 'Searched memory', 'Memory was not searched', Search),
  forgetMemory: words('Forget', 'Forgetting', 'Forgot', 'Nothing was forgotten', Trash2),
};

/** `get_weather` → `get weather`. */
const namedBySetting = (name: string): Words => {
  const named = name.replaceAll('_', ' ');
  return words(`Use ${named}`, `Using ${named}`, `Used ${named}`, `${named} failed`, Wrench);
};

export function wordsOf({ type }: ToolPart): Words {
  const name = type.replace('tool-', '');
  return tools[name] ?? namedBySetting(name);
}

interface ToolProps {
  readonly part: ToolPart;
  /** The user's message. A prompt that repeats it is not shown. */
  readonly question: string;
  /** The newest state of the video that the call ordered. */
  readonly video: MediaOutput | undefined;
  readonly onRetried: () => void;
  /** Requests the whole answer again. */
  readonly onAgain: (() => void) | undefined;
}

export function Tool({ part, question, video, onRetried, onAgain }: ToolProps) {
  const { busy, done, failed, Icon } = wordsOf(part);
  const output = video ?? part.output;
  const media = isMedia(output) ? output : undefined;
  const failure = part.errorText ?? textOf(Reflect.get(Object(output), 'failure'), 'message');
  const isCalled = part.state === 'input-streaming' || part.state === 'input-available';
  const isBusy = isCalled || (media !== undefined && isInProgress(media));
  const hasFailed = !isBusy && (failure !== undefined || media?.status === 'failed');
  const title = isBusy ? busy : hasFailed ? failed : done;
  const prompt = textOf(part.input, 'prompt') ?? textOf(part.input, 'content') ?? textOf(part.input, 'query');
  const isRepeated = prompt !== undefined && prompt.trim() === question.trim();
  return (
    <section className={`tool ${media ? 'hasmedia' : ''}`} aria-label={title}>
      <p className={`toolname ${isBusy ? 'busy' : ''}`}>
        <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
        {isBusy ? `${title} …` : title}
      </p>
      {prompt && !isRepeated && <p className="quiet small">{prompt}</p>}
      {isCalled && /^tool-(generate|edit)Image$/.test(part.type) && <Making input={part.input} />}
      {media ? (
        <Media output={media} prompt={prompt ?? done} onRetried={onRetried} onAgain={onAgain} />
      ) : (
        failure && <p className="problem small">{failure}</p>
      )}
      <Recalled output={output} />
    </section>
  );
}

function Recalled({ output }: { readonly output: unknown }) {
  const memories: unknown = Reflect.get(Object(output), 'memories');
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

function textOf(value: unknown, name: string): string | undefined {
  const field: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  return typeof field === 'string' ? field : undefined;
}

// Images that a tool is making: a place in their shape for each, until they are there.

const text = (input: unknown, name: string): unknown => Reflect.get(Object(input), name);

/** `input`: of the call, as far as the model has written it. */
function Making({ input }: { readonly input: unknown }) {
  const [sinceMs] = useState(Date.now);
  // The service uses the choice of the composer where the model names nothing.
  const chosen: unknown = JSON.parse(localStorage.getItem('atelier.media') ?? '{}');
  const ratio = String(text(input, 'ratio') ?? text(chosen, 'ratio') ?? '1:1');
  const count = Math.min(4, Math.max(1, Number(text(input, 'n') ?? text(chosen, 'count') ?? 1)));
  return (
    <div className={`images of${count}`}>
      {Array.from({ length: count }, (_, place) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: the places have nothing else.
          key={place}
          className="place"
          ref={(box) =>
            box?.style.setProperty('aspect-ratio', /^\d+:\d+$/.test(ratio) ? ratio.replace(':', ' / ') : '1')
          }
        >
          {place === 0 && <Elapsed sinceMs={sinceMs} what={count === 1 ? 'image' : 'images'} />}
        </div>
      ))}
    </div>
  );
}
