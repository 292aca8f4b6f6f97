const widths = ['w40', 'w100', 'w80', 'w60'];

interface SkeletonProps {
  readonly label?: string | undefined;
  readonly lines?: number;
  readonly shape?: 'skeleton' | 'tileskeleton';
}

/** Shows the shape of the content while it is loaded. */
export function Skeleton({ label = 'Loading', lines = 4, shape = 'skeleton' }: SkeletonProps) {
  return (
    <div className={shape} role="status">
      <span className="unseen">{label} …</span>
      {Array.from({ length: lines }, (_, index) => `line ${widths[index % widths.length]} ${index}`).map((name) => (
        <span key={name} className={name} aria-hidden="true" />
      ))}
    </div>
  );
}
