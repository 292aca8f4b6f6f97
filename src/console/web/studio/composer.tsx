import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { attachmentTypes, uploadPicture } from '../library/uploads.ts';
import { Problem } from '../parts/states.tsx';
import { useUser } from '../user.tsx';

export interface Attached {
  readonly assetId: string;
  readonly mime: string;
  readonly name: string;
  readonly preview: string;
}

interface Draft {
  readonly text: string;
  readonly attached: Attached | undefined;
}

export function Composer({
  threadId,
  text,
  setText,
  isAnswering,
  rewindNote,
  onSend,
  onStop,
}: {
  readonly threadId: string;
  readonly text: string;
  readonly setText: (text: string) => void;
  readonly isAnswering: boolean;
  readonly rewindNote: { readonly cancel: () => void } | undefined;
  readonly onSend: (draft: Draft) => void;
  readonly onStop: () => Promise<void>;
}) {
  const user = useUser();
  const picker = useRef<HTMLInputElement>(null);
  const [attached, setAttached] = useState<Attached>();
  const [share, setShare] = useState<number>();
  const [problem, setProblem] = useState('');
  const stopping = useMutation({ mutationFn: onStop });

  async function attach(file: File) {
    setProblem('');
    setShare(0);
    try {
      const asset = await uploadPicture(user, file, { scopeKind: 'thread', scopeId: threadId }, setShare);
      setAttached({ assetId: asset.assetId, mime: asset.mime, name: file.name, preview: URL.createObjectURL(file) });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setShare(undefined);
    }
  }

  function submit() {
    if (isAnswering || share !== undefined || (text.trim() === '' && attached === undefined)) return;
    onSend({ text: text.trim(), attached });
    setText('');
    setAttached(undefined);
  }

  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {rewindNote && (
        <p className="quiet">
          Sending drops the message that you went back to, and all after it.{' '}
          <button type="button" className="plain" onClick={rewindNote.cancel}>
            Do not rewind
          </button>
        </p>
      )}
      {share !== undefined && (
        <label className="field">
          Uploading {Math.round(share * 100)} %
          <progress max={1} value={share} />
        </label>
      )}
      {attached && (
        <p className="attachment">
          <img src={attached.preview} alt={attached.name} width="48" height="48" />
          <button type="button" className="plain" onClick={() => setAttached(undefined)}>
            Take the picture away
          </button>
        </p>
      )}
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <textarea
        aria-label="Message"
        placeholder="Ask for a picture, a video, or just talk"
        rows={2}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          submit();
        }}
      />
      <div className="row">
        <input
          ref={picker}
          type="file"
          accept={attachmentTypes}
          hidden
          aria-label="Picture"
          onChange={(event) => {
            const file = event.target.files?.[0];
            event.target.value = '';
            if (file !== undefined) void attach(file);
          }}
        />
        <button type="button" onClick={() => picker.current?.click()} disabled={share !== undefined}>
          Attach a picture
        </button>
        {isAnswering ? (
          <button type="button" onClick={() => stopping.mutate()} disabled={stopping.isPending}>
            Stop
          </button>
        ) : (
          <button type="submit" className="primary" disabled={share !== undefined}>
            Send
          </button>
        )}
        {isAnswering && <Problem of={stopping.error} />}
      </div>
    </form>
  );
}
