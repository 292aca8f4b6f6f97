import { RotateCw } from 'lucide-react';
import { Component, type ReactNode } from 'react';
import { PageNotLoaded } from './lazily.ts';

interface Properties {
  /** A new place gives the content another chance. */
  readonly place: string;
  readonly children: ReactNode;
}

interface State {
  readonly place: string;
  readonly error: Error | undefined;
}

/** A failure of one page leaves the navigation usable. */
export class Boundary extends Component<Properties, State> {
  override state: State = { place: this.props.place, error: undefined };

  static getDerivedStateFromProps({ place }: Properties, state: State): State | null {
    return place === state.place ? null : { place, error: undefined };
  }

  static getDerivedStateFromError(error: unknown) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    const isLoading = error instanceof PageNotLoaded;
    return (
      <div className="card narrow stack broken" role="alert">
        <h1>{isLoading ? 'This page could not be loaded' : 'This page stopped working'}</h1>
        <p className="quiet">
          {isLoading
            ? 'The server does not respond, or has been updated. Reload to get the current version.'
            : `Reload to continue. If it fails again, report this message: ${error.message}`}
        </p>
        <div>
          <button type="button" className="primary" onClick={() => location.reload()}>
            <RotateCw size={16} strokeWidth={1.75} aria-hidden="true" /> Reload
          </button>
        </div>
      </div>
    );
  }
}
