import { NotFound } from '../../core/errors/index.ts';
import type { Log } from '../../core/log/index.ts';
import type { State } from '../../core/state/index.ts';
import type { StreamObserver } from '../sessions/index.ts';
import type { OpenSource } from '../source/index.ts';
import { type ArchivesDependencies, createArchives, type PlannedArchive } from './archive/index.ts';
import { type CopyDependencies, openCopy } from './copy.ts';
import { type EncodeDependencies, openEncode } from './encode/index.ts';
import { type LayoutDependencies, openLayout } from './layout/index.ts';
import { findFiles, type ListDependencies } from './list-files.ts';
import { type LiveDependencies, openLive, readWindow } from './live.ts';
import { type MuxDependencies, openMux } from './mux/index.ts';
import { openPicture, type PictureDependencies } from './picture.ts';
import { planOutput, type RenditionPlan, type SelectedOutput, selectRecording, withoutRanges } from './plan.ts';
import { type Opening, type Outputs, type RecordSize, type Representation, unread } from './representation.ts';
import { openText, type TextPlan } from './text.ts';

const WHOLE = { first: 0 };

type Plan = RenditionPlan | TextPlan | PlannedArchive;

/** What every Stream endpoint sends; `prepareOutput`, `planSubtitle` and `planArchive` decide it. */
export type OutputPlan = Plan | SelectedOutput;

export interface OutputDependencies
  extends CopyDependencies,
    EncodeDependencies,
    LayoutDependencies,
    ListDependencies,
    LiveDependencies,
    MuxDependencies,
    PictureDependencies,
    Omit<ArchivesDependencies, 'outputs'> {
  readonly openSource: OpenSource;
  /** As `openSource`, without resolving again: for HEAD. @default HEAD is answered without opening a source */
  readonly peekSource?: OpenSource;
  readonly observer?: Pick<StreamObserver, 'onConversion'>;
}

const openNothing: OpenSource = () => Promise.reject(new NotFound('HEAD opens no sources'));

/** Opens what was planned. */
export function createOutputs(dependencies: OutputDependencies): Outputs<OutputPlan> {
  const { openSource, peekSource = openNothing, observer } = dependencies;

  const openKind = async (plan: Plan, opening: Opening): Promise<Representation> => {
    if (opening.isForHead && plan.answersHead) return { ...plan.head, read: unread };
    switch (plan.kind) {
      case 'copy':
        return openCopy(plan, opening, dependencies);
      case 'layout': {
        const opened = await openLayout(plan, opening, dependencies);
        return 'kind' in opened ? openKind(opened, { ...opening, range: WHOLE }) : opened;
      }
      case 'encode':
        return openEncode(plan, opening, dependencies);
      case 'mux':
        return openMux(plan, opening, dependencies);
      case 'text':
        return openText(plan, opening);
      case 'picture':
        return openPicture(plan, opening, dependencies);
      case 'live':
        return openLive(plan, opening, dependencies);
      case 'archive':
        return archives.open(plan, opening);
    }
  };

  const openPlan = async (plan: Plan, opening: Opening): Promise<Representation> => {
    if (!plan.isWithoutRanges) return openKind(plan, opening);
    return withoutRanges(await openKind(plan, { ...opening, range: WHOLE }), plan.rangedPath);
  };

  /** Opens a plan; what is only selected, once its window and its lists have been read. */
  const openOutput = async (plan: OutputPlan, opening: Opening): Promise<Representation> => {
    if (plan.kind !== 'selected') return openPlan(plan, opening);
    const { found, window, lists } = plan;
    if (window) {
      const recording = await readWindow(found, window, opening, dependencies);
      if ('segments' in recording) return { ...plan.head, ...recording, read: unread };
      const opened = await openOutput(selectRecording(plan, recording), opening);
      return { ...opened, recordedAtMs: recording.tracks[0].window?.recordedAtMs };
    }
    const files = lists && (await findFiles(found, lists, opening, dependencies));
    return openPlan(planOutput(plan, files), opening);
  };

  const outputs: Outputs<OutputPlan> = {
    async open(plan, session, range) {
      const opening = { session, range, openSource, isForHead: false };
      const { conversion } = plan;
      const opened = await openOutput(plan, opening);
      if (conversion && opened.segments === undefined) observer?.onConversion?.(conversion);
      return opened;
    },
    inspect: (plan, session, range = WHOLE) =>
      openOutput(plan, { session, range, openSource: peekSource, isForHead: true }),
  };
  const archives = createArchives({ ...dependencies, outputs });
  return outputs;
}

interface SizeRecorderDependencies {
  readonly state: Pick<State, 'putExactSize'>;
  readonly log: Log;
}

/** Returns what stores the sizes that streams show. */
export function createSizeRecorder({ state, log }: SizeRecorderDependencies): RecordSize {
  /** Keys whose size is being stored: a player requests several ranges at once. */
  const pending = new Set<string>();

  return ({ key, resource, rendition, tracks: [{ window }] }, bytes) => {
    // A window is another item than the stored one.
    if (window) return;
    if (resource.exactSizes?.[rendition.id] === bytes || pending.has(key)) return;
    pending.add(key);
    state
      .putExactSize(resource, rendition.id, bytes)
      .catch((error) => log.warn('Storing the size of a rendition failed', { resource: resource.id, error }))
      .finally(() => pending.delete(key));
  };
}
