/** Pictures and videos of a run, and the status of those that are not made. */
import { useMutation } from '@tanstack/react-query';
import { Picture } from '../library/picture.tsx';
import { useSigned } from '../library/signing.ts';
import { Status } from '../parts/states.tsx';
import { useUser } from '../user.tsx';

export interface MediaOutput {
  readonly kind: 'image' | 'video';
  readonly assetId: string | null;
  readonly status: 'queued' | 'processing' | 'completed' | 'failed';
  readonly videoId?: string;
  readonly taskId?: string;
  readonly failure?: { readonly code: string; readonly message: string; readonly retryable: boolean };
}

export function isMedia(value: unknown): value is MediaOutput {
  if (typeof value !== 'object' || value === null) return false;
  const kind: unknown = Reflect.get(value, 'kind');
  return kind === 'image' || kind === 'video';
}

export function Media({
  output,
  prompt,
  onRetried,
}: {
  readonly output: MediaOutput;
  readonly prompt: string;
  readonly onRetried: () => void;
}) {
  if (output.status === 'failed') return <Failed output={output} onRetried={onRetried} />;
  if (output.assetId === null)
    return (
      <p className="making" role="status">
        <Status tone="busy">{output.status === 'queued' ? 'The video is queued' : 'The video is being made'} …</Status>
      </p>
    );
  return output.kind === 'image' ? (
    <Image assetId={output.assetId} alt={prompt} />
  ) : (
    <Video assetId={output.assetId} label={prompt} />
  );
}

export function Image({ assetId, alt }: { readonly assetId: string; readonly alt: string }) {
  const { data } = useSigned('image', assetId);
  if (data?.ready === false) return <p className="quiet">This picture has been deleted.</p>;
  return (
    <a className="media" href={data?.url} target="_blank" rel="noreferrer" aria-label={`Open the picture: ${alt}`}>
      <Picture url={data?.previewUrl ?? data?.url} alt={alt} blurhash={data?.blurhash} />
    </a>
  );
}

export function Video({ assetId, label }: { readonly assetId: string; readonly label: string }) {
  const { data } = useSigned('video', assetId);
  if (data?.ready === false) return <p className="quiet">This video has been deleted.</p>;
  // Videos have no speech, so there is nothing to caption.
  return (
    <video
      className="media"
      controls
      preload="metadata"
      src={data?.playUrl ?? data?.url}
      poster={data?.thumbUrl}
      aria-label={label}
      muted
    />
  );
}

function Failed({ output, onRetried }: { readonly output: MediaOutput; readonly onRetried: () => void }) {
  const user = useUser();
  const retry = useMutation({
    mutationFn: () => user.json('agent', `/video/submit/${output.taskId}`, { method: 'POST' }),
    onSuccess: onRetried,
  });
  const { failure } = output;
  const canRetry = output.kind === 'video' && output.taskId !== undefined && failure?.retryable;
  return (
    <div className="failed" role="status">
      <Status tone="bad">
        {failure?.message ??
          (output.kind === 'video' ? 'The video could not be made.' : 'The picture could not be made.')}
      </Status>
      {canRetry && (
        <button type="button" disabled={retry.isPending} onClick={() => retry.mutate()}>
          Try the video again
        </button>
      )}
      {retry.error && (
        <p className="problem" role="alert">
          {retry.error.message}
        </p>
      )}
    </div>
  );
}
