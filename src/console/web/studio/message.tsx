import type { FileUIPart, UIMessage } from 'ai';
import { ChevronLeft, ChevronRight, FileText, Film, Pencil, RotateCw } from 'lucide-react';
import { type ComponentProps, type ComponentType, lazy, Suspense, useContext, useState } from 'react';
import { unanswered, validParts } from '#client/validparts.ts';
import { useModelName } from '../create/order.ts';
import { plural } from '../parts/figures.tsx';
import { IconButton, icon } from '../parts/iconbutton.tsx';
import { submitOnEnter, useIsOnline } from '../shell/browser.ts';
import { product } from '../shell/product.ts';
import type { Approving } from './approval.tsx';
import { CopyButton } from './copybutton.tsx';
import { ConversationContext, Image, isMedia, Media, type MediaOutput, useWithPrice, Video } from './media.tsx';
import { explained, storedOutcome } from './outcome.tsx';
import { approvalOf, Tool, type ToolPart, type ToolProps, wordsOf } from './tool.tsx';

type Part = UIMessage['parts'][number];

export const textOfMessage = ({ parts }: Pick<UIMessage, 'parts'>): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

export interface MessageActions {
  /** Sends the text again from here. The messages that it replaces become another version. */
  readonly edit?: ((message: UIMessage, text: string) => void) | undefined;
  /** Requests another answer. */
  readonly regenerate?: ((message: UIMessage) => void) | undefined;
  /** Answers tool calls that wait. */
  readonly approve?: Approving | undefined;
  /** The message begins one of several versions of the conversation. */
  readonly versions?: VersionsOf | undefined;
}

export interface VersionsOf {
  /** From 1. */
  readonly place: number;
  readonly count: number;
  /** `undefined`: not during an answer. */
  readonly choose?: ((place: number) => void) | undefined;
}

/** Edits and “Try again” make them. */
function Versions({ of: { place, count, choose } }: { readonly of: VersionsOf }) {
  return (
    <fieldset className="versions" aria-label="Versions of the conversation from here">
      <IconButton
        label="Previous version"
        Icon={ChevronLeft}
        disabled={choose === undefined || place === 1}
        onClick={() => choose?.(place - 1)}
      />
      <span role="status">
        Version {place} of {count}
      </span>
      <IconButton
        label="Next version"
        Icon={ChevronRight}
        disabled={choose === undefined || place === count}
        onClick={() => choose?.(place + 1)}
      />
    </fieldset>
  );
}

interface MessageProps {
  readonly message: UIMessage;
  /** The text that the message answers. */
  readonly question: string;
  /** The conversation itself shows how the last answer ended. */
  readonly isLast: boolean;
  /** Another message follows the user's, because its run failed or was stopped. */
  readonly isUnanswered: boolean;
  /** A new text that was refused, to be changed again. */
  readonly edited?: string | undefined;
  readonly actions: MessageActions;
}

export const Message = (props: MessageProps) =>
  props.message.role === 'user' ? <Question key={props.edited ?? ''} {...props} /> : <Answer {...props} />;

function Question({ message, isUnanswered, edited, actions: { edit, versions } }: MessageProps) {
  const [draft, setDraft] = useState(edited);
  const text = textOfMessage(message);
  const files = message.parts.filter((part) => part.type === 'file');
  return (
    <article className="message user" aria-label="You">
      {files.length > 0 && (
        <ul className="sent">
          {files.map((file) => (
            <li key={file.url}>
              <SentFile {...file} />
            </li>
          ))}
        </ul>
      )}
      {draft !== undefined && edit !== undefined ? (
        <Editor
          text={draft}
          onCancel={() => setDraft(undefined)}
          onSend={(next) => {
            setDraft(undefined);
            edit(message, next);
          }}
        />
      ) : (
        <>
          {text !== '' && <p className="said">{text}</p>}
          <div className="messagetools">
            <CopyButton label="Copy the message" read={() => text} />
            {edit && <IconButton label="Edit the message" Icon={Pencil} onClick={() => setDraft(text)} />}
          </div>
          {isUnanswered && <p className="problem small">This message has no answer.</p>}
          {versions && <Versions of={versions} />}
        </>
      )}
    </article>
  );
}

interface EditorProps {
  readonly text: string;
  readonly onSend: (text: string) => void;
  readonly onCancel: () => void;
}

function Editor({ text, onSend, onCancel }: EditorProps) {
  const [next, setNext] = useState(text);
  const withPrice = useWithPrice();
  const canSend = useIsOnline() && next.trim() !== '';
  return (
    <form
      className="editor"
      action={() => {
        if (canSend) onSend(next.trim());
      }}
      onKeyDown={({ key }) => key === 'Escape' && onCancel()}
    >
      <textarea
        className="grows"
        aria-label="New text of the message"
        aria-describedby="edit-note"
        value={next}
        ref={(field) => {
          if (field === null || document.activeElement === field) return;
          field.focus();
          // The caret is after the text.
          field.setSelectionRange(field.value.length, field.value.length);
        }}
        onChange={(event) => setNext(event.target.value)}
        onKeyDown={submitOnEnter}
      />
      <div className="row">
        <span id="edit-note" className="quiet small">
          The conversation continues from here. You can return to this version later.
        </span>
        <span className="buttons">
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={!canSend}>
            {withPrice('Send again')}
          </button>
        </span>
      </div>
    </form>
  );
}

function Answer({ message, question, isLast, actions: { regenerate, approve, versions } }: MessageProps) {
  const parts = validParts(message.parts);
  const videos = new Map(parts.flatMap((part) => videoOf(part) ?? []));
  const ordered = new Set(parts.flatMap((part) => orderOf(part) ?? []));
  // Parts are only added at the end.
  const keyed = parts.map((part, place) => ({ key: `${place}`, part }));
  const text = textOfMessage({ parts: [...parts] });
  const credits: unknown = Reflect.get(Object(message.metadata), 'credits');
  const ended = storedOutcome(message);
  const isStopped = ended?.kind === 'stopped';
  const onAgain = regenerate && (() => regenerate(message));
  const withPrice = useWithPrice();
  return (
    <article className="message assistant" aria-label={product}>
      {keyed.map(({ key, part }) => (
        <AnswerPart key={key} {...{ part, parts, question, videos, ordered, isStopped, onAgain, approve }} />
      ))}
      <Sources parts={parts} />
      {!isLast && ended?.kind === 'failed' && <p className="problem small">{explained(ended)}</p>}
      {!isLast && isStopped && <p className="quiet small">You stopped this answer.</p>}
      <div className="messagetools">
        {text !== '' && <CopyButton label="Copy the answer" read={() => text} />}
        {onAgain && <IconButton label={withPrice('Answer again')} Icon={RotateCw} onClick={onAgain} />}
        {typeof credits === 'number' && <span className="quiet small">{plural(credits, 'credit')}</span>}
      </div>
      {versions && <Versions of={versions} />}
    </article>
  );
}

function videoOf(part: Part): [id: string, video: MediaOutput][] | undefined {
  if (part.type !== 'data-video' || !isMedia(part.data) || part.data.videoId === undefined) return undefined;
  return [[part.data.videoId, part.data]];
}

/** The video that a call of a tool has ordered. */
function orderOf(part: Part): string | undefined {
  return 'output' in part && isMedia(part.output) ? part.output.videoId : undefined;
}

interface AnswerPartProps extends Pick<ToolProps, 'question' | 'onAgain'> {
  readonly part: Part;
  /** Of the whole message. */
  readonly parts: readonly Part[];
  readonly videos: ReadonlyMap<string, MediaOutput>;
  readonly ordered: ReadonlySet<string>;
  readonly isStopped: boolean;
  readonly approve: Approving | undefined;
}

function AnswerPart({ part, parts, question, videos, ordered, isStopped, onAgain, approve }: AnswerPartProps) {
  const video = videos.get(orderOf(part) ?? '') ?? videoOf(part)?.[0]?.[1];
  // The note that the answer was stopped, or has failed, is enough.
  if (isTool(part) && part.errorText === unanswered) return null;
  if (isStopped && video?.failure?.code === 'aborted') return null;
  if (part.type === 'text') return <AnswerText text={part.text} />;
  if (part.type === 'reasoning')
    return part.text.trim() === '' ? null : (
      <details className="reasoning">
        <summary>Reasoning</summary>
        <AnswerText text={part.text} />
      </details>
    );
  if (part.type === 'data-video' && isMedia(part.data))
    return ordered.has(part.data.videoId ?? '') ? null : <Media output={part.data} prompt="The video" />;
  const approval = isTool(part) ? approvalOf(part, parts) : undefined;
  if (isTool(part) && approval !== undefined) return <Asked {...{ part, approval, approve }} />;
  if (part.type === 'file') return <SentFile {...part} />;
  return isTool(part) ? <Tool {...{ part, question, video, onAgain }} /> : null;
}

const ApprovalCard = lazy(async () => ({ default: (await import('./approval.tsx')).ApprovalCard }));

function Asked(asked: Pick<ComponentProps<typeof ApprovalCard>, 'part' | 'approval' | 'approve'>) {
  const { part, approval } = asked;
  const model = useModelName(part.type === 'tool-generateVideo' ? 'video' : 'image', approval.model);
  return (
    <Suspense>
      <ApprovalCard {...asked} model={model} named={wordsOf(part)} price={plural(approval.credits, 'credit')} />
    </Suspense>
  );
}

/** What the model read for its answer. */
function Sources({ parts }: { readonly parts: readonly Part[] }) {
  const sources = new Map<string, { readonly title: string; readonly url?: string }>();
  for (const part of parts) {
    if (part.type === 'source-url') sources.set(part.url, { title: part.title ?? hostOf(part.url), url: part.url });
    if (part.type === 'source-document') sources.set(part.sourceId, { title: part.title });
  }
  if (sources.size === 0) return null;
  return (
    <ul className="sources" aria-label="Sources">
      {[...sources].map(([key, { title, url }]) => (
        <li key={key} className="cut">
          {url === undefined || !/^https?:/.test(url) ? (
            title
          ) : (
            <a href={url} target="_blank" rel="noreferrer" title={url}>
              {title}
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);

const isTool = (part: Part): part is Part & ToolPart => part.type.startsWith('tool-') && 'toolCallId' in part;

/** Messages that were read from the service have a signed URL, and name the asset beside it. */
function SentFile({ url, filename: name = 'File', mediaType: mime }: FileUIPart) {
  const { previews } = useContext(ConversationContext);
  const assetId = /^asset:(.+)$/.exec(url)?.[1];
  const preview = previews?.get(assetId ?? '');
  if (mime.startsWith('image/')) {
    if (assetId !== undefined && preview === undefined) return <Image assetId={assetId} alt={name} />;
    return <img className="sentimage" src={preview ?? url} alt={name} />;
  }
  if (mime.startsWith('video/') && assetId !== undefined) return <Video assetId={assetId} label={name} />;
  const Icon = mime.startsWith('video/') ? Film : FileText;
  return (
    <span className="document">
      <Icon {...icon} /> <span className="cut">{name}</span>
    </span>
  );
}

interface Properties {
  readonly text: string;
}

const Plain = ({ text }: Properties) => <p className="prose plain-text">{text}</p>;

/** Loaded with the first message, because Markdown is a fifth of the studio. Plain text if it cannot be loaded. */
const Prose = lazy(async (): Promise<{ readonly default: ComponentType<Properties> }> => {
  const loaded = await import('./prose.tsx').catch(() => undefined);
  return { default: loaded?.Prose ?? Plain };
});

/** The text of a message, as Markdown. */
const AnswerText = ({ text }: Properties) => (
  <Suspense fallback={<Plain text={text} />}>
    <Prose text={text} />
  </Suspense>
);
