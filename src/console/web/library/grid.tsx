/** The timeline: rows of tiles by day. Only the rows near the window exist, so a library may have any size. */
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  useCallback,
  useDeferredValue,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { Asset } from '../../../client/media/api.ts';
import { type Choosing, draggedAssets } from './choosing.ts';
import { useSignAhead } from './signing.ts';
import { Tile } from './tile.tsx';
import { arrange, monthOf, placeBeside, rowOf } from './timeline.ts';

const dateHeight = 48;
/** Rows beyond the window that exist already. */
const overscan = 4;

interface TimelineProps {
  readonly assets: readonly Asset[];
  readonly choosing: Choosing;
  /** Of the tiles: 1 is the usual size. */
  readonly size: number;
  /** A month such as `2026-11`, to scroll to. */
  readonly jumpTo?: { readonly month: string } | undefined;
  /** A click chooses. */
  readonly isChoosingOnly?: boolean;
  readonly hasMore: boolean;
  readonly onMore: () => void;
  readonly onOpen?: (asset: Asset) => void;
  readonly onEdit?: (asset: Asset) => void;
  /** The chosen assets, or the one with the focus. */
  readonly onDelete?: (assets: readonly Asset[]) => void;
  readonly onRestore?: (asset: Asset) => void;
}

export function Timeline(props: TimelineProps) {
  const { assets, choosing, size, jumpTo, isChoosingOnly = false, hasMore, onMore, onOpen, onEdit, onDelete } = props;
  const list = useRef<HTMLDivElement>(null);
  const { width, gap, top, isNarrow } = useMeasures(list);
  const height = Math.round((isNarrow ? 140 : 200) * size);
  const [active, setActive] = useState(0);
  // The page is painted before its tiles, so that the interaction that opens it is not slow.
  const isPainted = useDeferredValue(true, false);
  const rows = useMemo(
    () => (isPainted && width > 0 ? arrange(assets, { width, height, gap }) : []),
    [isPainted, assets, width, height, gap],
  );
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize(index) {
      const row = rows[index];
      return row?.kind === 'tiles' ? row.height + gap : dateHeight;
    },
    getItemKey: useCallback((index: number) => `${rows[index]?.kind} ${rows[index]?.key}`, [rows]),
    overscan,
    // A frame that shows a row late is better than one that comes late.
    useFlushSync: false,
    scrollMargin: top,
  });
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  const lastRow = rows[last];
  const firstTile = rows[shown[0]?.index ?? 0]?.start ?? 0;
  const lastTile = lastRow?.kind === 'tiles' ? lastRow.start + lastRow.assets.length - 1 : (lastRow?.start ?? 0);
  // Something in view has to have the tab stop.
  const tabStop = Math.min(Math.max(active, firstTile), lastTile);

  useSignAhead(assets, firstTile, lastTile);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the sizes of all rows change with the tiles.
  useLayoutEffect(() => virtual.measure(), [width, height, gap]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a choice of the user scrolls.
  useEffect(() => {
    const target = jumpTo === undefined ? -1 : assets.findIndex(({ createdAt }) => monthOf(createdAt) <= jumpTo.month);
    // The row of the day.
    if (target >= 0) virtual.scrollToIndex(Math.max(0, rowOf(rows, target) - 1), { align: 'start' });
  }, [jumpTo]);
  useEffect(() => {
    // Three windows ahead, so that the end is not seen while one scrolls.
    const ahead = Math.ceil((3 * innerHeight) / (height + gap));
    if (isPainted && hasMore && last + ahead >= rows.length) onMore();
  }, [isPainted, hasMore, last, rows.length, height, gap, onMore]);

  function moveTo(place: number): void {
    const next = Math.min(Math.max(place, 0), assets.length - 1);
    setActive(next);
    virtual.scrollToIndex(rowOf(rows, next), { align: 'auto' });
    // The row may exist only after the scrolling.
    const focus = (tries: number) => {
      const button = list.current?.querySelector<HTMLElement>(`[data-place="${next}"] .open`);
      if (button) button.focus({ preventScroll: true });
      else if (tries > 0) requestAnimationFrame(() => focus(tries - 1));
    };
    focus(20);
  }

  function onKeyDown(event: KeyboardEvent): void {
    const asset = assets[tabStop];
    if (asset === undefined || !(event.target instanceof Element) || !event.target.classList.contains('open')) return;
    const steps: Readonly<Record<string, number>> = {
      ArrowLeft: -1,
      ArrowRight: 1,
      ArrowUp: placeBeside(rows, tabStop, -1, gap) - tabStop,
      ArrowDown: placeBeside(rows, tabStop, 1, gap) - tabStop,
      Home: -assets.length,
      End: assets.length,
    };
    const step = steps[event.key];
    if (step !== undefined) {
      moveTo(tabStop + step);
      if (event.shiftKey) choosing.extendTo(Math.min(Math.max(tabStop + step, 0), assets.length - 1));
    } else if (event.key === ' ') choosing.toggle(tabStop, event.shiftKey);
    else if (event.key === 'a' && (event.ctrlKey || event.metaKey)) choosing.chooseAll();
    else if (event.key === 'Escape' && choosing.chosen.size > 0) choosing.clear();
    else if (event.key === 'Delete' || event.key === 'Backspace')
      onDelete?.(choosing.chosen.size > 0 ? choosing.assets : [asset]);
    else return;
    event.preventDefault();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys move between the buttons inside.
    <div
      ref={list}
      className={`timeline ${isChoosingOnly || props.onRestore || choosing.chosen.size > 0 ? 'choosing' : ''}`}
      onKeyDown={onKeyDown}
      onDragStart={({ target, dataTransfer }) => {
        const place =
          target instanceof Element ? target.closest<HTMLElement>('[data-place]')?.dataset.place : undefined;
        const id = assets[Number(place)]?.assetId;
        if (id === undefined) return;
        const ids = choosing.chosen.has(id) ? [...choosing.chosen] : [id];
        dataTransfer.setData(draggedAssets, JSON.stringify(ids));
        dataTransfer.effectAllowed = 'copy';
      }}
      style={{ height: virtual.getTotalSize() }}
    >
      {shown.map(({ index, key, start }) => {
        const row = rows[index];
        const style = { transform: `translateY(${start - top}px)` };
        if (row?.kind === 'date')
          return (
            <h2 key={key} className="day" style={style}>
              {row.label}
            </h2>
          );
        return (
          <div key={key} className="tiles" style={{ ...style, gap, height: row?.height }}>
            {row?.assets.map((asset, offset) => (
              <Tile
                key={asset.assetId}
                asset={asset}
                place={row.start + offset}
                width={row.widths[offset] ?? row.height}
                height={row.height}
                isChosen={choosing.chosen.has(asset.assetId)}
                isChoosing={isChoosingOnly || choosing.chosen.size > 0}
                isTabStop={row.start + offset === tabStop}
                onOpen={onOpen}
                onEdit={onEdit}
                onToggle={choosing.toggle}
                onFocus={setActive}
                onRestore={props.onRestore}
              />
            ))}
          </div>
        );
      })}
    </div>
  );
}

/** The sizes of the tiles, and how far the list is from the top of the page. */
function useMeasures(list: React.RefObject<HTMLDivElement | null>) {
  const [{ width, top }, setMeasures] = useState({ width: 0, top: 0 });
  useLayoutEffect(() => {
    const measure = () => {
      const box = list.current?.getBoundingClientRect();
      if (box)
        setMeasures((old) => {
          const now = { width: Math.floor(box.width), top: Math.round(box.top + scrollY) };
          return old.width === now.width && old.top === now.top ? old : now;
        });
    };
    measure();
    const observer = new ResizeObserver(measure);
    if (list.current) observer.observe(list.current);
    // What is above the list can grow as well.
    if (list.current?.parentElement) observer.observe(list.current.parentElement);
    return () => observer.disconnect();
  }, [list]);
  const isNarrow = width < 600;
  return { width, top, isNarrow, gap: isNarrow ? 4 : 8 };
}
