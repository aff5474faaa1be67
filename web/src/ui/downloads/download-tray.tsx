import { useEffect } from 'preact/hooks';
import { type Download, hasEnded } from '../../download/index.ts';
import { useObservable, usePage } from '../context.ts';
import { useLazy } from '../controls/index.ts';
import { useMilestones } from './use-milestones.ts';

/** All downloads of the page. The tray is loaded with the first download. */
export const DownloadTray = () => {
  const { downloads } = usePage();
  const list = useObservable(downloads.list);
  const isEmpty = list.length === 0;
  const { loaded: Tray, error, retry } = useLazy(loadTray, !isEmpty);
  useLeaveGuard();
  useEffect(() => {
    if (!error) return;
    addEventListener('online', retry);
    return () => removeEventListener('online', retry);
  }, [error]);
  return (
    <>
      {list.map((download) => (
        <Milestones key={download.id} download={download} />
      ))}
      {!isEmpty && Tray && <Tray />}
    </>
  );
};

/** Announced from the start, also while the tray is being loaded. */
const Milestones = ({ download }: { readonly download: Download }) => {
  useMilestones(download.fileName, useObservable(download.state));
  return null;
};

const loadTray = async () => (await import('./tray.tsx')).Tray;

/** Asks for confirmation before a page with running downloads is closed. */
function useLeaveGuard(): void {
  const { downloads } = usePage();
  useEffect(() => {
    const guard = (event: BeforeUnloadEvent) => {
      // Stored downloads continue on the next page.
      const isLost = ({ state, record }: Download) =>
        !hasEnded(state.get()) && !(state.get().canResume && record()?.isStored);
      if (downloads.list.get().some(isLost)) event.preventDefault();
    };
    addEventListener('beforeunload', guard);
    return () => removeEventListener('beforeunload', guard);
  }, [downloads]);
}
