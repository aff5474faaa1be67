import type { FileSource, Source } from '@reelay/source';
import type { Track } from '../../../core/state/resource.ts';
import { createFaultHandler, type Fault, type FaultOptions } from '../../origin/faults.ts';
import { bytesOf, resourceWith, sha256, startUpstream, trackAt, type Upstream } from './upstream.ts';

export const MiB = 1024 * 1024;
/** The content of the file. */
export const bytes = bytesOf(3 * MiB + 12_345);

/** An upstream for the tests of one file, with its readers. */
export async function startFileUpstream() {
  const upstream = await startUpstream();

  const fault = (fault?: Fault, more: Partial<FaultOptions> = {}) => {
    const handler = createFaultHandler({ bytes, ...(fault && { fault }), ...more });
    upstream.use(handler);
    return handler;
  };
  const isFile = (source: Source): FileSource => {
    if (source.needsRemux) throw new Error('not a file');
    return source;
  };
  const openWith = async (
    options: Parameters<Upstream['reader']>[0] = {},
    more: Partial<Track> = {},
    first = 0,
  ): Promise<FileSource> => {
    const track = trackAt(`${upstream.origin}/file`, more);
    return isFile(await upstream.reader(options)(resourceWith(track), track, { range: { first } }));
  };
  return { upstream, fault, isFile, openWith, whole: sha256(bytes) };
}
