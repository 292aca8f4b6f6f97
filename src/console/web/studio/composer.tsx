import { ArrowUp, FileText, Film, ListPlus, Plus, Square, TriangleAlert, X, Zap } from 'lucide-react';
import type { RefObject } from 'react';
import { Sources } from '../create/fields.tsx';
import { countOf, plural } from '../parts/figures.tsx';
import { IconButton, icon } from '../parts/iconbutton.tsx';
import { useDeed } from '../parts/server.ts';
import { Problem } from '../parts/states.tsx';
import { submitOnEnter } from '../shell/browser.ts';
import type { ModelChoice } from './account.ts';
import { type Attachment, type Attachments, acceptedFiles } from './attachments.ts';
import type { BusyMessage } from './chat.ts';
import { type MediaChoice, ModelMenu, type Prices } from './mediachoice.tsx';

interface ComposerProps {
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly attachments: Attachments;
  readonly modelChoice: ModelChoice;
  readonly mediaChoice: MediaChoice;
  readonly prices: Prices | undefined;
  readonly isAnswering: boolean;
  readonly isOnline: boolean;
  /** Of the latest message that was sent during an answer. */
  readonly busySending: { readonly isPending: boolean; readonly error: Error | null };
  readonly onSend: (text: string, files: readonly Attachment[]) => void;
  readonly onSendWhileBusy: (message: BusyMessage) => void;
  readonly onStop: () => Promise<void>;
}

export function Composer({ onSend, onSendWhileBusy, onStop, ...props }: ComposerProps) {
  const { field, text, setText, attachments, modelChoice, mediaChoice, prices, ...now } = props;
  const { isAnswering, isOnline, busySending } = now;
  const stopping = useDeed(onStop);
  const { items, isUploading, add, remove } = attachments;
  const ready = items.filter(({ state }) => state === 'ready');
  const isEmpty = text.trim() === '' && ready.length === 0;

  const isDisabled = isUploading || isEmpty || !isOnline || busySending.isPending;

  function submit(whenBusy: BusyMessage['whenBusy'] = 'queue') {
    if (isDisabled) return;
    if (isAnswering) onSendWhileBusy({ text: text.trim(), files: ready, whenBusy });
    else onSend(text.trim(), ready);
  }

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {items.length > 0 && (
        <ul className="chips" aria-label="Attachments">
          {items.map((item) => (
            <Chip key={item.key} item={item} onRemove={() => remove(item.key)} />
          ))}
        </ul>
      )}
      <textarea
        ref={field}
        className="grows"
        aria-label="Message"
        placeholder="Describe an image or a video, or just talk"
        rows={1}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={submitOnEnter}
      />
      <div className="controls">
        <Sources
          trigger={<IconButton label="Attach files" Icon={Plus} size={20} />}
          accept={acceptedFiles}
          multiple
          aria-label="Files"
          onFiles={add}
          onChoose={(assetId) => attachments.addAssets([assetId])}
        />
        <ModelMenu chat={modelChoice} choice={mediaChoice} />
        <Price of={prices} media={mediaChoice} />
        {isAnswering && !isEmpty && (
          <>
            <IconButton
              label="Interrupt"
              Icon={Zap}
              size={20}
              title="Stop the answer, and send this message"
              onClick={() => submit('interrupt')}
              disabled={isDisabled}
            />
            <IconButton
              label="Queue"
              Icon={ListPlus}
              size={20}
              title="Send this message after the answer"
              type="submit"
              disabled={isDisabled}
            />
          </>
        )}
        {isAnswering ? (
          <IconButton
            label="Stop"
            Icon={Square}
            size={12}
            className="primary icon round stop"
            onClick={() => stopping.mutate()}
            disabled={stopping.isPending}
          />
        ) : (
          <IconButton
            label="Send"
            Icon={ArrowUp}
            size={20}
            className="primary icon round"
            type="submit"
            title={isUploading ? 'The upload is in progress' : 'Send'}
            disabled={isDisabled}
          />
        )}
      </div>
      {isAnswering && <Problem of={stopping.error} />}
      <Problem of={busySending.error} />
      {!isOnline && !isEmpty && (
        <p className="quiet small" role="status">
          You are offline, so your message is not sent. It stays here. Send it when you are online again.
        </p>
      )}
    </form>
  );
}

function Chip({ item, onRemove }: { readonly item: Attachment; readonly onRemove: () => void }) {
  const { name, mime, state, share, preview, problem } = item;
  const Icon = mime.startsWith('video/') ? Film : FileText;
  return (
    <li className={`chip ${state}`}>
      {state === 'refused' ? (
        <TriangleAlert {...icon} />
      ) : preview === undefined ? (
        <Icon {...icon} />
      ) : (
        <img src={preview} alt="" width="40" height="40" />
      )}
      <span className="what">
        <span className="cut">{name}</span>
        {state === 'uploading' && (
          <progress max={1} value={share} aria-label={`Uploading ${name}, ${Math.round(share * 100)} percent`} />
        )}
        {problem && (
          <span className="problem small" role="alert">
            <span className="unseen">{name}: </span>
            {problem}
          </span>
        )}
      </span>
      <IconButton label={`Remove ${name}`} Icon={X} onClick={onRemove} />
    </li>
  );
}

interface PriceProps {
  readonly of: Prices | undefined;
  readonly media: MediaChoice;
}

/** The price of a message, and what is left. */
function Price({ of: prices, media: { videos, count } }: PriceProps) {
  if (prices === undefined) return <span className="price" />;
  const { left, message, images, video } = prices;
  if (left < message)
    return (
      <span className="price problem">
        Out of credits: a message costs {countOf(message)}, and you have {countOf(left)}.
      </span>
    );
  return (
    <span className="price">
      {plural(message, 'credit')} + {countOf(images)} for {count === 1 ? 'an image' : `${count} images`}
      {videos.length > 0 && ` or ${countOf(video)} for a video`} · {plural(left, 'credit')} left
    </span>
  );
}
