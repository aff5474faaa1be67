export { scanDashManifest } from './dash-manifest.ts';
export {
  type DashFragment,
  dashTimeline,
  type FragmentList,
  firstFragmentUrl,
  packFragments,
  unpackFragments,
} from './dash-timeline.ts';
