/** API types as in the contract; test/web/api/contract.test.ts compares them with the service's schemas. */

export interface AppInfo {
  version: string | null;
  isHealthy: boolean;
  environment: string | null;
  /** The activity, during maintenance. */
  maintenance?: string | null;
}

export interface ResourceInformation {
  requestedUrl?: string | null;
  type: 'Media' | 'PlayList' | 'Unknown';
  title?: string | null;
  author?: string | null;
  coverUrl?: string | null;
  mediaItems: MediaInformation[];
}

export interface MediaInformation {
  requestedUrl: string | null;
  video?: StreamReference;
  audio?: StreamReference;
  coverUrl: string | null;
  title: string | null;
  author: string | null;
}

export interface StreamReference {
  bestQualityDescription?: string | null;
  bestQualityKey?: string | null;
  bestQualityFileExtension?: string | null;
  bestQualityMimeType?: string | null;
  mediumQualityDescription?: string | null;
  mediumQualityKey?: string | null;
  mediumQualityFileExtension?: string | null;
  mediumQualityMimeType?: string | null;
  worstQualityDescription?: string | null;
  worstQualityKey?: string | null;
  worstQualityFileExtension?: string | null;
  worstQualityMimeType?: string | null;
  urlType?: 'Combined' | 'Media';
  renditions?: MediaRendition[];
}

export interface MediaRendition {
  key: string | null;
  label: string | null;
  description?: string | null;
  /** With a leading dot. */
  fileExtension: string | null;
  mimeType: string | null;
  urlType?: 'Combined' | 'Media';
  /** Bytes. */
  fileSizeBytes?: number | null;
  /** Pixels. */
  height?: number | null;
  /** kbit/s. */
  bitrate?: number | null;
  /** Value of `?format=`. */
  convertTo?: string | null;
}
