import { useEffect, useRef, useState } from 'preact/hooks';
import type { ArchiveProgress } from '../../api/index.ts';
import { usePage } from '../context.ts';

export interface ArchiveWatch {
  /** Of the last one. */
  readonly progress: ArchiveProgress | undefined;
  /** Begins to watch the archive at an address. Returns the address that reports on it. */
  follow(address: string): string;
}

/** The progress of the last ZIP of a list, while the list is shown. */
export function useArchiveProgress(): ArchiveWatch {
  const { api } = usePage();
  const [progress, setProgress] = useState<ArchiveProgress>();
  const events = useRef<EventSource>(undefined);
  useEffect(() => () => events.current?.close(), []);
  return {
    progress,
    follow(address) {
      events.current?.close();
      setProgress(undefined);
      const url = URL.parse(address);
      if (!url?.pathname.includes('/Stream/Archive/')) return address;
      // Not randomUUID, which needs HTTPS.
      const id = crypto.getRandomValues(new Uint32Array(4)).join('-');
      const source = new EventSource(`${api.base}/api/Stream/Archive/Progress/${id}`);
      source.onmessage = ({ data }) => {
        const next: ArchiveProgress = JSON.parse(data);
        setProgress(next);
        if (next.state !== 'building') source.close();
      };
      events.current = source;
      url.searchParams.set('jobId', id);
      return url.href;
    },
  };
}
