import { ApiFailure } from '../../api/index.ts';
import type { Outcome } from '../app-state.ts';
import { useLazy } from '../controls/index.ts';
import { FailureNotice, WaitingNotice } from './notices.tsx';
import { Skeleton } from './skeleton.tsx';
import type { Navigation } from './use-location.ts';

export interface ResultProps {
  readonly outcome: Outcome;
  readonly navigation: Navigation;
}

/** The outcome of the link in the field. */
export const Result = ({ outcome, navigation }: ResultProps) => {
  // Loaded while the first link is being resolved: the start page does without them. Without a connection both fail.
  const { loaded: Resolved, error, retry } = useLazy(loadResolvedResult, outcome.phase !== 'failed');
  switch (outcome.phase) {
    case 'idle':
      return null;
    case 'resolving':
      if (outcome.waiting) return <WaitingNotice waiting={outcome.waiting} onStop={navigation.close} />;
      return <Skeleton onCancel={navigation.close} />;
    case 'failed':
      return (
        <FailureNotice failure={outcome.failure} link={outcome.link} onRetry={() => navigation.open(outcome.link)} />
      );
    default:
      if (Resolved) return <Resolved outcome={outcome} />;
      if (error) return <FailureNotice failure={new ApiFailure('offline', {}, { cause: error })} onRetry={retry} />;
      return <Skeleton onCancel={navigation.close} />;
  }
};

const loadResolvedResult = async () => (await import('./resolved-result.tsx')).ResolvedResult;
