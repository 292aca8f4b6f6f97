import { Check, ChevronDown, ChevronUp, CircleAlert, type LucideIcon, Pause, Play, RotateCw, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { sizeOf } from '../parts/figures.tsx';
import { IconButton, icon } from '../parts/iconbutton.tsx';
import { useIsNarrow } from '../shell/browser.ts';
import { InSidebar } from '../shell/frame.tsx';
import './uploads.css';
import * as queue from './queue.ts';
import texts from './uploadtexts.json' with { type: 'json' };

/** Without a failure, the panel folds when everything is done, and then goes. */
const shownMs = 5000;

/** The uploads of this window: progress, pause, retry, and why one was refused. In the navigation, it covers no page. */
export function UploadPanel() {
  const uploads = queue.useUploads();
  const [path] = useLocation();
  const isNarrow = useIsNarrow();
  /** `undefined`: small outside the library. */
  const [isSmallHere, setSmall] = useState<boolean>();
  /** The last upload when the user closed the panel. Another one, or a failure, opens it. */
  const [closedAt, setClosedAt] = useState<string>();
  const open = uploads.filter(({ status }) => status !== 'done' && status !== 'failed');
  const failed = uploads.filter(({ status }) => status === 'failed').length;
  const isDone = uploads.length > 0 && open.length + failed === 0;
  // On a phone, the files would cover the page.
  const isSmall = isSmallHere ?? (isNarrow ? failed === 0 : !path.startsWith('/library'));
  useEffect(() => {
    if (!isDone) return undefined;
    const timer = setTimeout(() => {
      if (isSmall) queue.dismissEnded();
      setSmall(isSmall ? undefined : true);
    }, shownMs);
    return () => clearTimeout(timer);
  }, [isDone, isSmall]);
  if (failed === 0 && uploads.at(-1)?.id === closedAt) return null;
  const title =
    open.length > 0 && open.some(({ status }) => status !== 'paused')
      ? `Uploading: ${uploads.length - open.length - failed} of ${uploads.length} done`
      : open.length > 0
        ? `${open.length} of ${uploads.length} paused`
        : failed > 0
          ? `${failed} of ${uploads.length} not uploaded`
          : `${uploads.length} uploaded`;
  const panel = (
    <section className={`uploads ${isSmall ? 'small' : ''}`} aria-label="Uploads">
      <div className="row">
        <div role="status">
          <h2>{title}</h2>
        </div>
        <IconButton
          label={isSmall ? 'Show the files' : 'Hide the files'}
          Icon={isSmall ? ChevronUp : ChevronDown}
          aria-expanded={!isSmall}
          onClick={() => setSmall(!isSmall)}
        />
        <IconButton
          label="Close the list of uploads"
          Icon={X}
          onClick={() => {
            queue.dismissEnded();
            setClosedAt(open.at(-1)?.id);
          }}
        />
      </div>
      {!isSmall && (
        <ul>
          {failuresFirst(uploads).map((item) => (
            <Item key={item.id} item={item} />
          ))}
        </ul>
      )}
      {open.length > 0 && !isSmall && (
        <button type="button" onClick={queue.cancelUploads}>
          Cancel all
        </button>
      )}
    </section>
  );
  return isNarrow ? panel : <InSidebar>{panel}</InSidebar>;
}

/** The sort keeps the order of all others. */
const failuresFirst = (uploads: readonly queue.UploadItem[]) =>
  uploads.toSorted((one, other) => Number(other.status === 'failed') - Number(one.status === 'failed'));

const words: Readonly<Record<queue.UploadStatus, string>> = texts.states;

function Item({ item }: { readonly item: queue.UploadItem }) {
  const { id, name, size, status, share, problem, isRefused } = item;
  const isMoving = status === 'sending' || status === 'processing';
  const isEnded = status === 'done' || status === 'failed';
  const percent = Math.round(share * 100);
  const button = (word: string, Icon: LucideIcon, act: (id: string) => void) => (
    <IconButton className="icon" label={`${word} ${name}`} Icon={Icon} onClick={() => act(id)} />
  );
  return (
    <li className={`uploaditem ${status}`}>
      <span className="mark">
        {status === 'done' ? <Check {...icon} /> : status === 'failed' && <CircleAlert {...icon} />}
      </span>
      <div className="what">
        <span className="name">{name}</span>
        {problem ? (
          <span className="problem" role="alert">
            <span className="unseen">{name}: </span>
            {problem}
          </span>
        ) : (
          <span className="quiet">
            {words[status]}
            {isMoving && ` · ${percent} %`} · {sizeOf(size)}
          </span>
        )}
        {(isMoving || status === 'paused') && (
          <progress max={1} value={share} aria-label={`${name}, ${percent} percent`} />
        )}
      </div>
      <div className="does">
        {status === 'sending' && button('Pause', Pause, queue.pauseUpload)}
        {status === 'paused' && button('Resume', Play, queue.resumeUpload)}
        {status === 'failed' && !isRefused && button('Retry', RotateCw, queue.resumeUpload)}
        {status !== 'processing' && button(isEnded ? 'Dismiss' : 'Cancel', X, queue.dismissUpload)}
      </div>
    </li>
  );
}
