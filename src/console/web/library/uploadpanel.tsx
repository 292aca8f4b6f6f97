import { Check, CircleAlert, Pause, Play, RotateCw, X } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { sizeOf } from '../parts/figures.tsx';
import { IconButton, icon } from '../parts/iconbutton.tsx';
import './uploads.css';
import {
  cancelUploads,
  dismissFinished,
  dismissUpload,
  pauseUpload,
  resumeUpload,
  type UploadItem,
  type UploadStatus,
  useUploads,
} from './queue.ts';
import texts from './uploadtexts.json' with { type: 'json' };

/** The uploads of this window: progress, pause, retry, and why one was refused. */
export function UploadPanel() {
  const uploads = useUploads();
  const [path] = useLocation();
  /** `undefined`: small outside the library. */
  const [isSmallHere, setSmall] = useState<boolean>();
  if (uploads.length === 0) return null;
  const open = uploads.filter(({ status }) => status !== 'done' && status !== 'failed').length;
  const failed = uploads.filter(({ status }) => status === 'failed').length;
  const title =
    open > 0 && uploads.some(({ status }) => status !== 'paused' && status !== 'done' && status !== 'failed')
      ? `Uploading: ${uploads.length - open - failed} of ${uploads.length} done`
      : open > 0
        ? `${open} of ${uploads.length} paused`
        : failed > 0
          ? `${failed} of ${uploads.length} not uploaded`
          : `${uploads.length} uploaded`;
  const isSmall = isSmallHere ?? !path.startsWith('/library');
  return (
    <section className={`uploads ${isSmall ? 'small' : ''}`} aria-label="Uploads">
      <div className="row">
        <div role="status">
          <h2>{title}</h2>
        </div>
        <button type="button" className="plain" aria-expanded={!isSmall} onClick={() => setSmall(!isSmall)}>
          {isSmall ? 'Show' : 'Hide'}
        </button>
        {open > 0 && !isSmall && (
          <button type="button" className="plain" onClick={cancelUploads}>
            Cancel all
          </button>
        )}
        {uploads.some(({ status }) => status === 'done') && !isSmall && (
          <button type="button" className="plain" onClick={dismissFinished}>
            Clear finished
          </button>
        )}
      </div>
      {!isSmall && (
        <ul>
          {failuresFirst(uploads).map((item) => (
            <Item key={item.id} item={item} />
          ))}
        </ul>
      )}
    </section>
  );
}

/** The sort keeps the order of all others. */
const failuresFirst = (uploads: readonly UploadItem[]) =>
  uploads.toSorted((one, other) => Number(other.status === 'failed') - Number(one.status === 'failed'));

const words: Readonly<Record<UploadStatus, string>> = texts.states;

function Item({ item }: { readonly item: UploadItem }) {
  const { id, name, size, status, share, problem, isRefused } = item;
  const isMoving = status === 'sending' || status === 'processing';
  const percent = Math.round(share * 100);
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
        {status === 'sending' && (
          <IconButton className="icon" label={`Pause ${name}`} Icon={Pause} onClick={() => pauseUpload(id)} />
        )}
        {status === 'paused' && (
          <IconButton className="icon" label={`Resume ${name}`} Icon={Play} onClick={() => resumeUpload(id)} />
        )}
        {status === 'failed' && !isRefused && (
          <IconButton className="icon" label={`Retry ${name}`} Icon={RotateCw} onClick={() => resumeUpload(id)} />
        )}
        {status !== 'processing' && (
          <IconButton
            className="icon"
            label={status === 'done' || status === 'failed' ? `Dismiss ${name}` : `Cancel ${name}`}
            Icon={X}
            onClick={() => dismissUpload(id)}
          />
        )}
      </div>
    </li>
  );
}
