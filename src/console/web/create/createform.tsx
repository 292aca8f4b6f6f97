import { useMutation } from '@tanstack/react-query';
import { ImagePlus, Sparkles, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { mediaCalls } from '../../../client/media/calls.ts';
import { createUpload } from '../../../client/upload.ts';
import { AssetImage } from '../library/assetimage.tsx';
import { nameOf } from '../library/queue.ts';
import { useSigned } from '../library/signing.ts';
import { IconButton } from '../parts/iconbutton.tsx';
import { Problem } from '../parts/states.tsx';
import { notifyFailure } from '../shell/notices.ts';
import { useCredits } from '../studio/account.ts';
import { useUser } from '../user.tsx';
import { type MediaModel, rememberRatio, useMediaModels, useShowOrder } from './generations.ts';
import { type Order, sendOrder } from './order.ts';

const icon = { size: 16, strokeWidth: 1.75, 'aria-hidden': true } as const;
const kinds = [
  ['image', 'Images'],
  ['video', 'Video'],
] as const;

export function CreateForm({ order: given }: { readonly order: Order }) {
  const user = useUser();
  const [order, setOrder] = useState(given);
  const change = (changes: Partial<Order>) => setOrder((now) => ({ ...now, ...changes }));
  const models = useMediaModels(order.kind);
  const model = models.find(({ id }) => id === order.model) ?? models.find((one) => one.allowed) ?? models[0];
  const { count, references, ratio } = fitting(order, model);
  const show = useShowOrder();
  const key = useRef(crypto.randomUUID());
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    field.current?.focus();
    if (given.references.length > 0 || given.prompt !== '') window.scrollTo({ top: 0 });
  }, [given]);
  const sending = useMutation({
    mutationFn: async () => {
      const sent = { ...order, model: model?.id, count, references, ratio };
      const generation = await sendOrder(user, sent, key.current);
      if (ratio !== undefined) rememberRatio(generation.id, ratio);
      return generation;
    },
    onSuccess: (generation) => {
      key.current = crypto.randomUUID();
      show(generation);
    },
    // A refused order is another order when it is sent again.
    onError: () => {
      key.current = crypto.randomUUID();
    },
  });
  const canSend = order.prompt.trim() !== '' && model?.allowed === true && !sending.isPending;
  return (
    <form
      className="createform"
      aria-label="New images or video"
      onSubmit={(event) => {
        event.preventDefault();
        if (canSend) sending.mutate();
      }}
    >
      <fieldset className="segments" aria-label="Kind">
        {kinds.map(([kind, name]) => (
          <label key={kind}>
            <input
              type="radio"
              name="kind"
              className="unseen"
              checked={order.kind === kind}
              onChange={() => change({ kind, model: undefined, ratio: undefined, duration: undefined })}
            />
            {name}
          </label>
        ))}
      </fieldset>
      <textarea
        ref={field}
        className="grows"
        aria-label="Prompt"
        placeholder={order.kind === 'image' ? 'Describe the images' : 'Describe the video'}
        rows={3}
        maxLength={4000}
        value={order.prompt}
        onChange={({ target }) => change({ prompt: target.value })}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
      />
      <References
        label={order.kind === 'image' ? 'References' : 'First frame'}
        ids={references}
        most={order.kind === 'image' ? (model?.maxReferences ?? 0) : 1}
        onChange={(next) => change({ references: next })}
      />
      {models.length > 1 && (
        <label className="field">
          Model
          <select value={model?.id} onChange={({ target }) => change({ model: target.value, ratio: undefined })}>
            {models.map(({ id, label, allowed, credits }) => (
              <option key={id} value={id} disabled={!allowed}>
                {label} ({allowed ? creditsOf(credits) : 'not in your plan'})
              </option>
            ))}
          </select>
        </label>
      )}
      {(model?.ratios?.length ?? 0) > 0 && (
        <div className="field">
          <span aria-hidden="true">Ratio</span>
          <fieldset className="ratios" aria-label="Ratio">
            {model?.ratios?.map((each) => (
              <label key={each} title={each}>
                <input
                  type="radio"
                  name="ratio"
                  className="unseen"
                  checked={ratio === each}
                  onChange={() => change({ ratio: each })}
                />
                <RatioShape ratio={each} />
                {each}
              </label>
            ))}
          </fieldset>
        </div>
      )}
      {order.kind === 'image' && (model?.maxCount ?? 1) > 1 && (
        <Numbers
          name="Number of images"
          values={[1, 2, 3, 4].filter((value) => value <= (model?.maxCount ?? 1))}
          chosen={count}
          onChoose={(value) => change({ count: value })}
        />
      )}
      {order.kind === 'video' && (model?.durations?.length ?? 0) > 0 && (
        <Numbers
          name="Seconds"
          values={model?.durations ?? []}
          chosen={order.duration ?? model?.durations?.[0]}
          onChoose={(duration) => change({ duration })}
        />
      )}
      {model !== undefined && !model.allowed && (
        <p className="problem">Your plan does not include {order.kind === 'image' ? 'images' : 'videos'}.</p>
      )}
      <Problem of={sending.error} />
      <div className="send">
        <button type="submit" className="primary" disabled={!canSend}>
          <Sparkles {...icon} />
          {order.kind === 'image' ? (count === 1 ? 'Create an image' : `Create ${count} images`) : 'Create a video'}
        </button>
        {model && <Price credits={model.credits * (order.kind === 'image' ? count : 1)} />}
      </div>
    </form>
  );
}

/** The order as the model can carry it out. */
function fitting(order: Order, model: MediaModel | undefined): Pick<Order, 'count' | 'references' | 'ratio'> {
  const ratios = model?.ratios ?? [];
  const most = order.kind === 'image' ? (model?.maxReferences ?? order.references.length) : 1;
  const usual = order.kind === 'video' ? '16:9' : '1:1';
  const hasReference = order.references.length > 0;
  const fallback = ratios.includes(usual) ? usual : ratios[0];
  return {
    count: Math.min(order.count, model?.maxCount ?? order.count),
    references: order.references.slice(0, most),
    ratio:
      order.ratio !== undefined && ratios.includes(order.ratio) ? order.ratio : hasReference ? undefined : fallback,
  };
}

function RatioShape({ ratio }: { readonly ratio: string }) {
  const [width = 1, height = 1] = ratio.split(':').map(Number);
  const scale = 14 / Math.max(width, height);
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
      <rect
        x={8 - (width * scale) / 2}
        y={8 - (height * scale) / 2}
        width={width * scale}
        height={height * scale}
        rx="1"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
      />
    </svg>
  );
}

function Numbers({
  name,
  values,
  chosen,
  onChoose,
}: {
  readonly name: string;
  readonly values: readonly number[];
  readonly chosen: number | undefined;
  readonly onChoose: (value: number) => void;
}) {
  return (
    <div className="field">
      <span aria-hidden="true">{name}</span>
      <fieldset className="segments" aria-label={name}>
        {values.map((value) => (
          <label key={value}>
            <input
              type="radio"
              name={name}
              className="unseen"
              checked={chosen === value}
              onChange={() => onChoose(value)}
            />
            {value}
          </label>
        ))}
      </fieldset>
    </div>
  );
}

const creditsOf = (credits: number) => `${credits} ${credits === 1 ? 'credit' : 'credits'}`;

function Price({ credits }: { readonly credits: number }) {
  const account = useCredits();
  if (account === undefined) return <span className="quiet small">{creditsOf(credits)}</span>;
  const tone = account.credits < credits ? 'problem' : 'quiet';
  return (
    <span className={`${tone} small`}>
      {creditsOf(credits)}. You have {account.credits}.
    </span>
  );
}

function References({
  label,
  ids,
  most,
  onChange,
}: {
  readonly label: string;
  readonly ids: readonly string[];
  readonly most: number;
  readonly onChange: (ids: readonly string[]) => void;
}) {
  const user = useUser();
  const picker = useRef<HTMLInputElement>(null);
  const [uploading, setUploading] = useState(0);
  if (most === 0) return null;
  const latest = ids;
  async function add(files: readonly File[]) {
    setUploading((now) => now + files.length);
    const added: string[] = [];
    for (const file of files) {
      const details = { scopeKind: 'library', scopeId: 'uploads', kind: 'image', name: nameOf(file) };
      await createUpload(mediaCalls(user.media), file, details)
        .run()
        .then(({ assetId }) => added.push(assetId), notifyFailure);
      setUploading((now) => now - 1);
    }
    onChange([...latest, ...added].slice(0, most));
  }
  return (
    <div className="field">
      <span aria-hidden="true">{label}</span>
      <ul className="references" aria-label={label}>
        {ids.map((id) => (
          <li key={id}>
            <Reference assetId={id} onRemove={() => onChange(ids.filter((other) => other !== id))} />
          </li>
        ))}
        {ids.length + uploading < most && (
          <li>
            <input
              ref={picker}
              type="file"
              accept="image/*"
              multiple={most > 1}
              hidden
              aria-label={`Upload: ${label}`}
              onChange={({ target }) => {
                void add([...(target.files ?? [])].slice(0, most - ids.length));
                target.value = '';
              }}
            />
            <button type="button" className="addreference" onClick={() => picker.current?.click()}>
              <ImagePlus {...icon} />
              {uploading > 0 ? 'Uploading …' : 'Add'}
            </button>
          </li>
        )}
      </ul>
    </div>
  );
}

function Reference({ assetId, onRemove }: { readonly assetId: string; readonly onRemove: () => void }) {
  const { data } = useSigned('image', assetId);
  return (
    <span className="reference">
      <AssetImage url={data?.thumbUrl ?? data?.url} alt="Reference" blurhash={data?.blurhash} />
      <IconButton label="Remove the reference" Icon={X} className="icon" onClick={onRemove} />
    </span>
  );
}
