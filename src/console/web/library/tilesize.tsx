import { Grid2x2 } from 'lucide-react';
import { useStored } from '../shell/browser.ts';

/** The choice is stored in this browser. */
export function useTileSize() {
  const [size, setSize] = useStored('atelier.tile-size');
  return [Number(size || 1), setSize] as const;
}

export function TileSize({ size, onChange }: { readonly size: number; readonly onChange: (size: string) => void }) {
  return (
    <label className="tilesize" title="Size of the images">
      <Grid2x2 size={16} strokeWidth={1.75} aria-hidden="true" />
      <input
        type="range"
        aria-label="Size of the images"
        min={0.6}
        max={2}
        step={0.2}
        value={size}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}
