import './editor.css';
import { useMutation } from '@tanstack/react-query';
import { Brush, Contrast, Eraser, type LucideIcon, Redo2, Square, Trash2, Undo2, ZoomIn, ZoomOut } from 'lucide-react';
import { type PointerEvent, useEffect, useMemo, useRef, useState } from 'react';
import type { Asset } from '#client/media/api.ts';
import { Price, Segments } from '../create/fields.tsx';
import { quotientOf, useModels } from '../create/order.ts';
import { Elapsed } from '../parts/elapsed.tsx';
import { TextArea } from '../parts/fields.tsx';
import { plural } from '../parts/figures.tsx';
import { IconButton } from '../parts/iconbutton.tsx';
import { Problem } from '../parts/states.tsx';
import { hasSingleKeys } from '../shell/actions.ts';
import { useIsNarrow, useIsOnline } from '../shell/browser.ts';
import { notify } from '../shell/notices.ts';
import { type User, useUser } from '../user.tsx';
import { nameOf, promptOf } from './assets.ts';
import { useSigned } from './signing.ts';

const tools = [
  ['Brush', 'b', Brush, { erases: false, isBox: false }],
  ['Rectangle', 'r', Square, { erases: false, isBox: true }],
  ['Erase', 'e', Eraser, { erases: true, isBox: false }],
] as const;
const counts = [1, 2, 3, 4] as const;
const zooms = [1, 1.5, 2, 3, 4] as const;
/** The longest side of the canvas on the screen. The mask has the size of the image. */
const shownSide = 1024;

/** Label, key, icon, whether it is possible, what it does; of a tool, whether it is chosen. */
type Deed = readonly [string, string, LucideIcon, boolean, () => void, boolean?];

/** Also with strokes that were taken back, which are after `kept`. */
const noDraft = { all: [] as readonly Stroke[], kept: 0, prompt: '' };
/** The unfinished edits, by asset. They end with the page. */
const drafts = new Map<string, typeof noDraft>();

interface EditorProps {
  readonly asset: Asset;
  /** The first of the new images. */
  readonly onMade: (assetId: string) => Promise<unknown>;
  readonly onClose: () => void;
}

/** Edits an image by a prompt. Without strokes of the brush, all of it may change. */
export function Editor({ asset, onMade, onClose }: EditorProps) {
  const user = useUser();
  const [draft, setDraft] = useState(drafts.get(asset.assetId) ?? noDraft);
  const { all, kept, prompt } = draft;
  const strokes = useMemo(() => all.slice(0, kept), [all, kept]);
  const [zoom, setZoom] = useState(0);
  const keep = (next: number) => setDraft({ ...draft, kept: next });
  const paint = (next: readonly Stroke[]) => setDraft({ ...draft, all: next, kept: next.length });
  const [brush, setBrush] = useState({ size: 0.08, erases: false, isBox: false });
  useEffect(() => {
    if (draft.kept > 0 || draft.prompt.trim() !== '') drafts.set(asset.assetId, draft);
    else drafts.delete(asset.assetId);
  }, [asset.assetId, draft]);
  const [ratio, setRatio] = useState<Ratio>();
  const [count, setCount] = useState<(typeof counts)[number]>(1);
  const [made, setMade] = useState(0);
  // The tools for clients use the default model.
  const [model] = useModels('image');
  const stop = useRef(new AbortController());
  useEffect(() => {
    const closing = new AbortController();
    stop.current = closing;
    return () => {
      // An editor that is closed must not buy further images.
      closing.abort();
      if (drafts.has(asset.assetId)) notify('Your unfinished edit is saved. “Edit” continues it.');
    };
  }, [asset.assetId]);
  const edit = useMutation({
    mutationFn: async () => {
      setMade(0);
      const mask = await toMask(strokes, asset.width ?? shownSide, asset.height ?? shownSide);
      const order = { assetId: asset.assetId, prompt: prompt.trim(), mask, ratio };
      const ids: string[] = [];
      // One after the other, because calls at the same time count toward the limit of runs.
      while (ids.length < count) {
        ids.push(await editImage(user, order, stop.current.signal));
        setMade(ids.length);
      }
      drafts.delete(asset.assetId);
      await onMade(ids.at(-1) ?? asset.assetId);
    },
  });
  const isReady = useIsOnline() && prompt.trim() !== '' && !edit.isPending;
  const isNarrow = useIsNarrow();
  const deeds: readonly Deed[] = [
    ...tools.map(([label, key, Icon, tool]): Deed => {
      const isOn = brush.erases === tool.erases && brush.isBox === tool.isBox;
      return [label, key, Icon, true, () => setBrush((now) => ({ ...now, ...tool })), isOn];
    }),
    ['Undo the last stroke', 'z', Undo2, kept > 0, () => keep(kept - 1)],
    ['Redo the stroke', 'y', Redo2, kept < all.length, () => keep(kept + 1)],
    ['Invert the mask', 'i', Contrast, strokes.length > 0, () => paint([...strokes, inversion])],
    ['Clear the mask', 'c', Trash2, strokes.length > 0, () => paint([])],
    ['Zoom out', '-', ZoomOut, zoom > 0, () => setZoom(zoom - 1)],
    ['Zoom in', '+', ZoomIn, zoom < zooms.length - 1, () => setZoom(zoom + 1)],
  ];
  const resize = (by: number) => setBrush({ ...brush, size: Math.min(0.3, Math.max(0.01, brush.size + by)) });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const pressed = event.key.toLowerCase();
      if (pressed === 'enter' && (event.ctrlKey || event.metaKey) && isReady) edit.mutate();
      // A text has its own undo, and other keys with Ctrl or ⌘ are the browser's.
      if (event.target instanceof HTMLTextAreaElement) return;
      if (event.ctrlKey || event.metaKey ? !/^[zy]$/.test(pressed) : !hasSingleKeys()) return;
      const [, , , , run] = deeds.find(([, key, , isPossible]) => key === pressed && isPossible) ?? [];
      if (run !== undefined) event.preventDefault();
      run?.();
      if (pressed === '[') resize(-0.01);
      if (pressed === ']') resize(0.01);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  return (
    <>
      <div className="stage">
        <Painting {...{ asset, strokes, brush, ratio }} zoom={zooms[zoom] ?? 1} onStrokes={paint} />
        {edit.isPending && (
          <div className="working">
            <Elapsed sinceMs={edit.submittedAt} what="image" />
          </div>
        )}
      </div>
      <form
        className="aside editor"
        aria-label="Edit the image"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) edit.mutate();
        }}
      >
        <div className="fields">
          <p className="quiet">
            {strokes.length === 0
              ? 'Paint over the part to change, or describe a change to the whole image.'
              : 'Only the painted part changes.'}
          </p>
          <div className="does">
            {deeds.map(([label, key, Icon, isPossible, run, isOn]) => (
              <IconButton
                key={label}
                label={label}
                title={`${label} (${key.toUpperCase()})`}
                Icon={Icon}
                className={isOn === undefined ? 'icon' : 'toggle icon'}
                aria-pressed={isOn}
                disabled={!isPossible}
                onClick={run}
              />
            ))}
          </div>
          <p className="quiet small keyhint">
            Keys: B, R, E for tools, [ and ] for the size, + and − to zoom, Z to undo.
          </p>
          <label className="field">
            <span className="sized">
              Brush size <output>{Math.round(brush.size * (asset.width ?? shownSide))} px</output>
            </span>
            <input
              aria-label="Brush size"
              type="range"
              min={1}
              max={30}
              value={Math.round(brush.size * 100)}
              // The track is filled up to the thumb.
              ref={(range) => range?.style.setProperty('--share', `${((brush.size * 100 - 1) / 29) * 100}%`)}
              onChange={(event) => setBrush({ ...brush, size: Number(event.target.value) / 100 })}
            />
          </label>
          <TextArea
            label="Prompt"
            className="grows"
            rows={3}
            maxLength={4000}
            placeholder="For example: a red balloon"
            value={prompt}
            onChange={(next) => setDraft({ ...draft, prompt: next })}
          />
          <details open={!isNarrow}>
            <summary>
              {ratio ?? 'Same as source'} · {plural(count, 'image')}
            </summary>
            <Segments
              name="Ratio"
              options={[undefined, ...ratios]}
              chosen={ratio}
              onChoose={setRatio}
              textOf={(option) => option ?? 'Same as source'}
              ratioOf={(option) => option ?? `${asset.width ?? 1}:${asset.height ?? 1}`}
            />
            <Segments name="Number of images" options={counts} chosen={count} onChoose={setCount} />
          </details>
        </div>
        <div className="finish">
          <Problem of={edit.error} />
          {model && <Price credits={count * model.credits} />}
          <button type="submit" className="primary" disabled={!isReady}>
            {edit.isPending
              ? `Generating ${Math.min(made + 1, count)} of ${count} …`
              : count === 1
                ? 'Generate the image'
                : `Generate ${count} images`}
          </button>
          <button type="button" onClick={onClose}>
            {edit.isPending ? 'Cancel' : 'Back to the image'}
          </button>
        </div>
      </form>
    </>
  );
}

interface PaintingProps {
  readonly asset: Asset;
  readonly strokes: readonly Stroke[];
  readonly brush: Omit<Stroke, 'points'>;
  /** Of the image that is ordered. `undefined`: the same. */
  readonly ratio: Ratio | undefined;
  /** 1: the whole image is in view. */
  readonly zoom: number;
  readonly onStrokes: (strokes: readonly Stroke[]) => void;
}

function Painting({ asset, strokes, brush, ratio, zoom, onStrokes }: PaintingProps) {
  const { data } = useSigned('image', asset.assetId);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { width, height } = { width: asset.width ?? 1, height: asset.height ?? 1 };
  const scale = Math.min(1, shownSide / Math.max(width, height));
  useEffect(() => {
    if (canvas.current) draw(canvas.current, strokes, '#ff3d9a');
  }, [strokes]);
  const pointOf = ({ clientX, clientY, currentTarget }: PointerEvent) => {
    const box = currentTarget.getBoundingClientRect();
    return { x: (clientX - box.x) / box.width, y: (clientY - box.y) / box.height };
  };
  return (
    <div
      className="painting"
      ref={(frame) => {
        frame?.style.setProperty('--ratio', String(width / height));
        frame?.style.setProperty('--zoom', String(zoom));
        frame?.style.setProperty('--wanted', String(ratio ? quotientOf(ratio) : width / height));
      }}
    >
      <img src={data?.previewUrl ?? data?.url} alt={promptOf(asset) ?? nameOf(asset)} draggable={false} />
      <canvas
        ref={canvas}
        className="mask"
        width={Math.round(width * scale)}
        height={Math.round(height * scale)}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          onStrokes([...strokes, { ...brush, points: [pointOf(event)] }]);
        }}
        onPointerMove={(event) => {
          const last = strokes.at(-1);
          if (!event.currentTarget.hasPointerCapture(event.pointerId) || last === undefined) return;
          onStrokes([...strokes.slice(0, -1), { ...last, points: [...last.points, pointOf(event)] }]);
        }}
      />
      {ratio && <span className="shape" />}
    </div>
  );
}

// Edits an image, or the part of it that a mask shows, through the agent's tools for clients (`POST /mcp`).

/** The ratios of `edit_image`. */
const ratios = ['1:1', '4:3', '3:4', '16:9', '9:16'] as const;
type Ratio = (typeof ratios)[number];

interface ToolAnswer {
  readonly error?: { readonly message: string };
  readonly result?: {
    readonly isError?: boolean;
    readonly structuredContent?: { readonly assetId?: string; readonly message?: string };
  };
}

/** `edit`: the input of the tool. Returns the id of the new image. Throws the reason why there is none. */
async function editImage(user: User, edit: object, signal: AbortSignal): Promise<string> {
  const response = await user.send('agent', '/mcp', {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream' },
    json: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'edit_image', arguments: edit } },
    signal,
  });
  const { error, result } = parseAnswer(await response.text());
  const output = result?.structuredContent;
  if (output?.assetId !== undefined && !result?.isError) return output.assetId;
  throw new Error(output?.message ?? error?.message ?? 'The image could not be edited.');
}

/** The answer is JSON, or the last event of a stream. */
function parseAnswer(text: string): ToolAnswer {
  const events = text.split('\n').filter((line) => line.startsWith('data:'));
  return JSON.parse(events.at(-1)?.slice('data:'.length) ?? text);
}

// Strokes of a brush over an image, and the mask that they make.

interface Stroke {
  /** Empty: inverts the mask. From 0 to 1 of the width and the height of the image. */
  readonly points: readonly { readonly x: number; readonly y: number }[];
  /** The diameter of the brush, as a part of the width. */
  readonly size: number;
  readonly erases: boolean;
  /** Fills the rectangle from the first point to the last one. */
  readonly isBox: boolean;
}

const inversion: Stroke = { points: [], size: 0, erases: false, isBox: false };

/** Draws in the color of the canvas, over what it shows. */
function draw(canvas: HTMLCanvasElement, strokes: readonly Stroke[], color: string): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  const { width, height } = canvas;
  context.clearRect(0, 0, width, height);
  context.lineCap = 'round';
  context.lineJoin = 'round';
  context.strokeStyle = color;
  context.fillStyle = color;
  for (const { points, size, erases, isBox } of strokes) {
    const [first] = points;
    if (first === undefined) {
      context.globalCompositeOperation = 'source-out';
      context.fillRect(0, 0, width, height);
      continue;
    }
    context.globalCompositeOperation = erases ? 'destination-out' : 'source-over';
    const last = points.at(-1) ?? first;
    if (isBox) {
      context.fillRect(first.x * width, first.y * height, (last.x - first.x) * width, (last.y - first.y) * height);
      continue;
    }
    context.lineWidth = size * width;
    context.beginPath();
    context.moveTo(first.x * width, first.y * height);
    // A line of no length shows a point.
    for (const { x, y } of points) context.lineTo(x * width, y * height);
    context.stroke();
  }
  context.globalCompositeOperation = 'source-over';
}

/** A PNG of this size in base64, opaque but for the strokes. `undefined`: there are none. */
async function toMask(strokes: readonly Stroke[], width: number, height: number): Promise<string | undefined> {
  if (!strokes.some(({ erases }) => !erases)) return undefined;
  const newCanvas = () => Object.assign(document.createElement('canvas'), { width, height });
  const painted = newCanvas();
  draw(painted, strokes, '#000');
  const mask = newCanvas();
  const context = mask.getContext('2d');
  if (context === null) throw new Error('This browser cannot create a mask.');
  context.fillRect(0, 0, width, height);
  context.globalCompositeOperation = 'destination-out';
  context.drawImage(painted, 0, 0);
  return mask.toDataURL('image/png').split(',')[1];
}
