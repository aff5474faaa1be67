import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiFailure } from '../../api/index.ts';
import type { Outcome } from '../app-state.ts';
import { FailureNotice, WaitingNotice } from './notices.tsx';
import type { ResolvedResultProps } from './resolved-result.tsx';
import { Skeleton } from './skeleton.tsx';
import type { Navigation } from './use-location.ts';

export interface ResultProps {
  readonly outcome: Outcome;
  readonly navigation: Navigation;
}

/** What became of the link in the field. */
export const Result = ({ outcome, navigation }: ResultProps) => {
  const { Resolved, failure, retry } = useResolvedResult();
  switch (outcome.phase) {
    case 'idle':
      return null;
    case 'resolving':
      if (outcome.waiting) return <WaitingNotice waiting={outcome.waiting} onStop={navigation.close} />;
      return <Skeleton onCancel={navigation.close} />;
    case 'failed':
      return <FailureNotice failure={outcome.failure} onRetry={() => navigation.open(outcome.link)} />;
    default:
      if (Resolved) return <Resolved outcome={outcome} />;
      if (failure) return <FailureNotice failure={failure} onRetry={retry} />;
      return <Skeleton onCancel={navigation.close} />;
  }
};

interface LazyResult {
  readonly Resolved?: FunctionComponent<ResolvedResultProps>;
  readonly failure?: ApiFailure;
  readonly retry: () => void;
}

/** Loads the components of a result while the first link is being resolved: the start page does without them. */
function useResolvedResult(): LazyResult {
  const [loaded, setLoaded] = useState<Omit<LazyResult, 'retry'>>({});
  const load = () => {
    setLoaded({});
    import('./resolved-result.tsx').then(
      ({ ResolvedResult }) => setLoaded({ Resolved: ResolvedResult }),
      // Without a connection and a cached copy, or after a deployment.
      (error) => setLoaded({ failure: new ApiFailure('offline', {}, { cause: error }) }),
    );
  };
  useEffect(load, []);
  return { ...loaded, retry: load };
}
