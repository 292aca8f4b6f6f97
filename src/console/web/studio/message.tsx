import type { UIMessage } from 'ai';
import Markdown from 'react-markdown';
import { Status } from '../parts/states.tsx';
import { Image, isMedia, Media } from './media.tsx';

type Part = UIMessage['parts'][number];

interface ToolPart {
  readonly type: string;
  readonly toolCallId: string;
  readonly state: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly errorText?: string;
}

const toolTitles: Readonly<Record<string, readonly [busy: string, done: string]>> = {
  generateImage: ['Making a picture', 'Made a picture'],
  editImage: ['Editing a picture', 'Edited a picture'],
  generateVideo: ['Making a video', 'Ordered a video'],
  saveMemory: ['Remembering', 'Remembered'],
  recallMemory: ['Looking into the memory', 'Looked into the memory'],
};

export function Message({
  message,
  previews,
  onRewind,
  onRetried,
}: {
  readonly message: UIMessage;
  /** Pictures attached in this browser, by asset id. */
  readonly previews: ReadonlyMap<string, string>;
  readonly onRewind: ((message: UIMessage) => void) | undefined;
  readonly onRetried: () => void;
}) {
  const isUser = message.role === 'user';
  const shownVideos = new Set(message.parts.flatMap((part) => videoIdOf(part) ?? []));
  // Parts are only added at the end.
  const keyed = message.parts.map((part, place) => ({ key: `${place}`, part }));
  return (
    <article className={`message ${message.role}`} aria-label={isUser ? 'You' : 'Atelier'}>
      {keyed.map(({ key, part }) => (
        <PartView
          key={key}
          part={part}
          isUser={isUser}
          previews={previews}
          shownVideos={shownVideos}
          onRetried={onRetried}
        />
      ))}
      {isUser && onRewind && (
        <button type="button" className="plain rewind" onClick={() => onRewind(message)}>
          Rewind to here
        </button>
      )}
    </article>
  );
}

function videoIdOf(part: Part): string | undefined {
  return part.type === 'data-video' && isMedia(part.data) ? part.data.videoId : undefined;
}

function PartView({
  part,
  isUser,
  previews,
  shownVideos,
  onRetried,
}: {
  readonly part: Part;
  readonly isUser: boolean;
  readonly previews: ReadonlyMap<string, string>;
  readonly shownVideos: ReadonlySet<string>;
  readonly onRetried: () => void;
}) {
  if (part.type === 'text') return isUser ? <p className="said">{part.text}</p> : <Prose text={part.text} />;
  if (part.type === 'reasoning')
    return (
      <details className="tool">
        <summary>Thought about it</summary>
        <Prose text={part.text} />
      </details>
    );
  if (part.type === 'file') return <Attachment url={part.url} name={part.filename} previews={previews} />;
  if (part.type === 'data-video' && isMedia(part.data))
    return <Media output={part.data} prompt="The video" onRetried={onRetried} />;
  if (part.type.startsWith('tool-') && 'toolCallId' in part)
    return <Tool part={part as ToolPart} shownVideos={shownVideos} onRetried={onRetried} />;
  return null;
}

function Attachment({
  url,
  name = 'Attached picture',
  previews,
}: {
  readonly url: string;
  readonly name: string | undefined;
  readonly previews: ReadonlyMap<string, string>;
}) {
  const assetId = /^asset:(.+)$/.exec(url)?.[1];
  if (assetId !== undefined && !previews.has(assetId)) return <Image assetId={assetId} alt={name} />;
  return <img className="media attached" src={assetId === undefined ? url : previews.get(assetId)} alt={name} />;
}

/** An answer cannot load anything from elsewhere, and links open beside the console. */
function Prose({ text }: { readonly text: string }) {
  return (
    <div className="prose">
      <Markdown
        disallowedElements={['img']}
        components={{
          a: ({ href, children }) => (
            <a href={href} target="_blank" rel="noreferrer">
              {children}
            </a>
          ),
        }}
      >
        {text}
      </Markdown>
    </div>
  );
}

function Tool({
  part,
  shownVideos,
  onRetried,
}: {
  readonly part: ToolPart;
  readonly shownVideos: ReadonlySet<string>;
  readonly onRetried: () => void;
}) {
  const name = part.type.replace('tool-', '');
  const [busy, done] = toolTitles[name] ?? [`Using ${name}`, `Used ${name}`];
  const { input, output } = part;
  const prompt = textOf(input, 'prompt') ?? textOf(input, 'content') ?? textOf(input, 'query');
  const failure = textOf(Reflect.get(Object(output), 'failure'), 'message');
  const isBusy = part.state === 'input-streaming' || part.state === 'input-available';
  const isShown = isMedia(output) && !(output.videoId !== undefined && shownVideos.has(output.videoId));
  return (
    <section className="tool" aria-label={isBusy ? busy : done}>
      <div className="row">
        <Status tone={isBusy ? 'busy' : part.errorText || failure ? 'bad' : 'good'}>
          {isBusy ? `${busy} …` : done}
        </Status>
      </div>
      {prompt && <p className="quiet">{prompt}</p>}
      {part.errorText && <p className="problem">{part.errorText}</p>}
      {!isMedia(output) && failure && <p className="problem">{failure}</p>}
      {isShown && <Media output={output} prompt={prompt ?? done} onRetried={onRetried} />}
      <Recalled output={output} />
    </section>
  );
}

function Recalled({ output }: { readonly output: unknown }) {
  const memories: unknown = Reflect.get(Object(output), 'memories');
  if (!Array.isArray(memories)) return null;
  if (memories.length === 0) return <p className="quiet">Nothing was found.</p>;
  return (
    <ul className="lines">
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
