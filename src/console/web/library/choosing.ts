/** Which assets are chosen for an action on all of them. */
import { useCallback, useMemo, useRef, useState } from 'react';
import type { Asset } from '../../../client/media/api.ts';

/** The type of what is dragged: a list of ids in JSON. */
export const draggedAssets = 'application/x-atelier-assets';

export type Choosing = ReturnType<typeof useChoosing>;

export function useChoosing(all: readonly Asset[]) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const anchor = useRef(0);
  const current = useRef(all);
  current.current = all;

  const extendTo = useCallback((place: number) => {
    const [from, to] = [Math.min(anchor.current, place), Math.max(anchor.current, place)];
    const ids = current.current.slice(from, to + 1).map(({ assetId }) => assetId);
    setChosen((old) => new Set([...old, ...ids]));
  }, []);
  /** With `isRange`, everything from the place of the last choice on. */
  const toggle = useCallback(
    (place: number, isRange: boolean) => {
      if (isRange) return extendTo(place);
      const id = current.current[place]?.assetId;
      if (id === undefined) return;
      anchor.current = place;
      setChosen((old) => new Set(old.has(id) ? [...old].filter((other) => other !== id) : [...old, id]));
    },
    [extendTo],
  );
  const chooseAll = useCallback(() => setChosen(new Set(current.current.map(({ assetId }) => assetId))), []);
  const clear = useCallback(() => setChosen(new Set()), []);
  const assets = useMemo(() => all.filter(({ assetId }) => chosen.has(assetId)), [all, chosen]);
  return { chosen, assets, toggle, extendTo, chooseAll, clear };
}
