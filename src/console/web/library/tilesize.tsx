import { Grid2x2 } from 'lucide-react';
import { useStored } from '../shell/browser.ts';

const [smallest, largest] = [0.6, 2];

/** The choice is stored in this browser. */
export function useTileSize() {
  const [size, setSize] = useStored('atelier.tile-size');
  return [Math.min(largest, Math.max(smallest, Number(size) || 1)), setSize] as const;
}

export function TileSize({ size, onChange }: { readonly size: number; readonly onChange: (size: string) => void }) {
  return (
    <label className="tilesize" title="Size of the images">
      <Grid2x2 size={16} strokeWidth={1.75} aria-hidden="true" />
      <input
        type="range"
        aria-label="Size of the images"
        min={smallest}
        max={largest}
        step={0.2}
        value={size}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}
