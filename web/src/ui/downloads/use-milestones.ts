import { useEffect, useRef } from 'preact/hooks';
import { type DownloadState, progressOf } from '../../download/index.ts';
import { usePage } from '../context.ts';

/** Announces start, 50 % and end of a download, each once. */
export function useMilestones(name: string, state: DownloadState): void {
  const { texts, format, announcement } = usePage();
  const { t } = texts;
  const { phase, isHandedOver } = state;
  const isHalf = phase === 'running' && (progressOf(state) ?? 0) >= 0.5;
  const hasBegun = useRef(false);
  const wasHalf = useRef(false);
  useEffect(() => {
    if (phase !== 'running') return;
    if (!hasBegun.current) announcement.set(t('say.downloadStarted', { name }));
    else if (isHalf && !wasHalf.current) announcement.set(t('say.downloadShare', { share: format.percent(0.5), name }));
    hasBegun.current = true;
    wasHalf.current ||= isHalf;
  }, [phase, isHalf]);

  const last = useRef(phase);
  useEffect(() => {
    if (phase === last.current) return;
    last.current = phase;
    if (isHandedOver) announcement.set(t('downloads.handedOver'));
    else if (phase === 'done') announcement.set(t('say.downloadDone', { name }));
    else if (phase === 'failed') announcement.set(t('say.downloadFailed', { name }));
    else if (phase === 'cancelled') announcement.set(t('say.downloadCancelled', { name }));
  }, [phase]);
}
