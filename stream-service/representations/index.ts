export {
  createRepresentations,
  type Representations,
  type RepresentationsDependencies,
} from './create-representations.ts';
