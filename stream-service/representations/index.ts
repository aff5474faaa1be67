export {
  createRepresentations,
  type Representations,
  type RepresentationsDependencies,
} from './create-representations.ts';
export { createSizeRecorder } from './pair.ts';
