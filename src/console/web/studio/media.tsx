/** Images and videos of a run, and the status of those that are not made. */
import { Columns2, LoaderCircle, RotateCw, Trash2, Undo2 } from 'lucide-react';
import { createContext, useContext } from 'react';
import { Link } from 'wouter';
import { plainFailure } from '../create/order.ts';
import { fromAmong } from '../library/actions.ts';
import { AssetImage } from '../library/assetimage.tsx';
import { openDialog } from '../library/dialogs.ts';
import { MediaActions } from '../library/mediaactions.tsx';
import { useSigned } from '../library/signing.ts';
import { useTrash } from '../library/trash.ts';
import { plural } from '../parts/figures.tsx';
import { Button, icon } from '../parts/iconbutton.tsx';
import { useDeed } from '../parts/server.ts';
import { notifyFailure } from '../shell/notices.ts';
import { useUser } from '../user.tsx';
import { useCredits } from './account.ts';

export interface MediaOutput {
  readonly kind: 'image' | 'video';
  readonly assetId: string | null;
  /** Of a call that made several images: all of them. */
  readonly assetIds?: readonly string[];
  readonly status: 'queued' | 'processing' | 'completed' | 'failed';
  readonly videoId?: string;
  readonly taskId?: string;
  readonly failure?: {
    readonly code: string;
    readonly message: string;
    readonly retryable: boolean;
    readonly required?: number;
    readonly balance?: number;
  };
}

export function isMedia(value: unknown): value is MediaOutput {
  if (typeof value !== 'object' || value === null) return false;
  const kind: unknown = Reflect.get(value, 'kind');
  return kind === 'image' || kind === 'video';
}

interface ConversationFacts {
  /** The images and videos, through which the lightbox steps. */
  readonly among: readonly string[];
  /** Of a message, in credits. */
  readonly price?: number | undefined;
  /** Images attached in this browser, by asset id. */
  readonly previews?: ReadonlyMap<string, string>;
  readonly onRetried?: () => void;
}
export const ConversationContext = createContext<ConversationFacts>({ among: [] });

/** Completes the text of a button that charges. Default: the price of a message, to which its images and videos add theirs. */
export function useWithPrice(): (text: string, price?: number) => string {
  const ofMessage = useContext(ConversationContext).price;
  return (text, price) => {
    if (price !== undefined) return `${text} · ${plural(price, 'credit')}`;
    return ofMessage === undefined ? text : `${text} · from ${plural(ofMessage, 'credit')}`;
  };
}

export const isInProgress = ({ status }: MediaOutput): boolean => status === 'queued' || status === 'processing';

interface MediaProps {
  readonly output: MediaOutput;
  readonly prompt: string;
  readonly onAgain?: (() => void) | undefined;
}

export function Media({ output, prompt, onAgain }: MediaProps) {
  if (output.status === 'failed') return <Failed output={output} onAgain={onAgain} />;
  if (output.assetId === null)
    return (
      <div className="media making" role="status">
        <LoaderCircle className="turning" size={20} strokeWidth={1.75} aria-hidden="true" />
        {output.status === 'queued' ? 'The video is queued …' : 'The video is in progress …'}
      </div>
    );
  const { assetIds = [] } = output;
  if (assetIds.length > 1) return <Images assetIds={assetIds} alt={prompt} />;
  return output.kind === 'image' ? (
    <Image assetId={output.assetId} alt={prompt} />
  ) : (
    <Video assetId={output.assetId} label={prompt} />
  );
}

function Images({ assetIds, alt }: { readonly assetIds: readonly string[]; readonly alt: string }) {
  return (
    <>
      <div
        className={`images of${Math.min(4, assetIds.length)}`}
        // The choice of the composer may have changed since the order.
        onLoad={({ target, currentTarget: { style } }) => {
          if (target instanceof HTMLImageElement)
            style.setProperty('--ratio', String(target.naturalWidth / target.naturalHeight));
        }}
      >
        {assetIds.map((assetId, place) => (
          <Image key={assetId} assetId={assetId} alt={`${alt} (${place + 1} of ${assetIds.length})`} prompt={alt} />
        ))}
      </div>
      <Button
        Icon={Columns2}
        text="Compare"
        className="plain"
        onClick={() => openDialog({ kind: 'compare', assetIds })}
      />
    </>
  );
}

interface GoneProps {
  readonly what: 'image' | 'video';
  readonly assetId: string;
  readonly isInTrash: boolean;
}

/** In the place of an asset that is in the trash, or was deleted for good. */
export function Gone({ what, assetId, isInTrash }: GoneProps) {
  const { restore } = useTrash();
  return (
    <div className="gone quiet small">
      <Trash2 {...icon} />
      <p>
        This {what} {isInTrash ? 'is in the ' : 'has been deleted.'}
        {isInTrash && <Link href="/trash">trash</Link>}
        {isInTrash && '.'}
      </p>
      {isInTrash && <Button Icon={Undo2} text="Restore" onClick={() => void restore([{ assetId }])} />}
    </div>
  );
}

interface ImageProps {
  readonly assetId: string;
  readonly alt: string;
  readonly prompt?: string;
}

export function Image({ assetId, alt, prompt = alt }: ImageProps) {
  const { among } = useContext(ConversationContext);
  const { data } = useSigned('image', assetId);
  if (data?.ready === false || data?.trashed) return <Gone what="image" assetId={assetId} isInTrash={data.ready} />;
  return (
    <div className="media">
      <Link href={`/library/${assetId}`} state={fromAmong(among)} aria-label={`Open the image: ${alt}`}>
        <AssetImage url={data?.previewUrl ?? data?.url} alt={alt} blurhash={data?.blurhash} />
      </Link>
      {data !== undefined && <MediaActions asset={{ assetId, mime: data.mime ?? 'image/jpeg' }} prompt={prompt} />}
    </div>
  );
}

export function Video({ assetId, label }: { readonly assetId: string; readonly label: string }) {
  const { data } = useSigned('video', assetId);
  if (data?.ready === false || data?.trashed) return <Gone what="video" assetId={assetId} isInTrash={data.ready} />;
  // Videos have no speech, so there is nothing to caption.
  return (
    <div className="media">
      <video
        controls
        preload="metadata"
        src={data?.playUrl ?? data?.url}
        poster={data?.thumbUrl}
        aria-label={label}
        muted
      />
      {data !== undefined && <MediaActions asset={{ assetId, mime: data.mime ?? 'video/mp4' }} prompt={label} />}
    </div>
  );
}

/** A retry is offered only if it can succeed. */
function Failed({ output, onAgain }: Omit<MediaProps, 'prompt'>) {
  const { onRetried } = useContext(ConversationContext);
  const withPrice = useWithPrice();
  const user = useUser();
  const credits = useCredits();
  const retry = useDeed(() => user.json('agent', `/video/submit/${output.taskId}`, { method: 'POST' }));
  const { failure } = output;
  if (failure?.code === 'aborted') return <p className="quiet small">{failure.message}</p>;
  const price = failure?.required ?? credits?.prices.video;
  const isTooDear = credits !== undefined && price !== undefined && credits.credits < price;
  const isOfPlan = failure?.code === 'insufficient_plan';
  const canRetry = output.kind === 'video' && output.taskId !== undefined && failure?.retryable === true && !isOfPlan;
  return (
    <div className="failed" role="status">
      <p className="problem">{plainFailure(failure?.message ?? `The ${output.kind} could not be generated.`)}</p>
      {isOfPlan && <p className="small quiet">An operator can change your plan.</p>}
      {canRetry && isTooDear && (
        <p className="small quiet">
          This costs {plural(price, 'credit')}, and you have {credits.credits}. An operator can add credits.
        </p>
      )}
      {canRetry && !isTooDear && (
        <Button
          Icon={RotateCw}
          text={withPrice('Try the video again', price)}
          disabled={retry.isPending}
          onClick={() => retry.mutate(undefined, { onSuccess: onRetried, onError: notifyFailure })}
        />
      )}
      {output.kind === 'image' && failure?.retryable === true && onAgain && (
        <Button Icon={RotateCw} text={withPrice('Answer again')} onClick={onAgain} />
      )}
    </div>
  );
}
