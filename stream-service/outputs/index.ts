export {
  createRepresentations,
  type Representations,
  type RepresentationsDependencies,
} from './create-representations.ts';
export { contentDisposition, fileName, type Naming } from './file-name.ts';
export { createSizeRecorder } from './layout/index.ts';
export {
  type Representation,
  type RepresentationHead,
  type RepresentationOpener,
  toReadError,
} from './representation.ts';
