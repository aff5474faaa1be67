import type { ProfileName } from '../../infra/config/settings.ts';

const LOGS = ['logs:CreateLogStream', 'logs:PutLogEvents'];
const FUNCTION = [...LOGS, 'xray:PutTelemetryRecords', 'xray:PutTraceSegments'];
const items = (...actions: string[]) => actions.map((action) => `dynamodb:${action}Item`);

const FETCHING_RELEASES = [
  ...FUNCTION,
  ...items('Delete', 'Get', 'Put'),
  ...['s3:DeleteObject', 's3:GetObject', 's3:ListBucket', 's3:PutObject'],
  ...['lambda:PublishLayerVersion', 'lambda:GetLayerVersion', 'lambda:DeleteLayerVersion', 'lambda:ListLayerVersions'],
  ...['lambda:UpdateFunctionConfiguration', 'lambda:GetFunction', 'lambda:GetFunctionConfiguration'],
  ...['lambda:InvokeFunction', 'lambda:PublishVersion'],
  ...['lambda:GetAlias', 'lambda:CreateAlias', 'lambda:UpdateAlias'],
];
/** What CDK gives its own function that fills buckets. */
const FILLING_A_BUCKET = [
  ...['s3:Abort*', 's3:DeleteObject*', 's3:GetBucket*', 's3:GetObject*', 's3:List*', 's3:PutObject'],
  ...['s3:PutObjectLegalHold', 's3:PutObjectRetention', 's3:PutObjectTagging', 's3:PutObjectVersionTagging'],
];
const SEEING_TASKS = ['ecs:DescribeTasks', 'ecs:ListTasks'];

const ALWAYS: Record<string, string[]> = {
  ApiAppInfoRole: [...FUNCTION, ...items('Get')],
  ApiRequestCountRole: [...FUNCTION, ...items('BatchGet')],
  ApiDescriptionRole: FUNCTION,
  ApiNotFoundRole: FUNCTION,
  ApiResolverRole: [...FUNCTION, ...items('Get', 'Put', 'Update'), 'lambda:InvokeFunction'],
  OriginSecretMakerRole: [...FUNCTION, ...items('Get', 'Put')],
  ToolsCanaryRole: FUNCTION,
  ToolsLayerRole: FETCHING_RELEASES,
  ToolUpdatesFunctionRole: FETCHING_RELEASES,
  TaskDefinitionExecutionRole: [
    ...LOGS,
    ...['ecr:BatchCheckLayerAvailability', 'ecr:BatchGetImage', 'ecr:GetAuthorizationToken'],
    'ecr:GetDownloadUrlForLayer',
  ],
  PageUploadRole: [...LOGS, ...FILLING_A_BUCKET],
  CustomS3AutoDeleteObjectsCustomResourceProviderRole: LOGS,
};
const SDK_CALLS = [...LOGS, 'ec2:DescribeManagedPrefixLists', 'iam:CreateServiceLinkedRole'];
const TASK = [...items('Get', 'Put', 'Update'), 's3:GetObject', 's3:ListBucket'];
const BALANCED = {
  TaskTaskRole: [...TASK, 'ecs:GetTaskProtection', 'ecs:UpdateTaskProtection'],
  SdkCallsRole: SDK_CALLS,
};
const ON_DEMAND = {
  TaskTaskRole: TASK,
  SdkCallsRole: SDK_CALLS,
  StreamsWakeRole: [...FUNCTION, ...SEEING_TASKS, ...['ecs:RunTask', 'iam:PassRole'], ...items('Delete', 'Get', 'Put')],
  StreamsRegisterRole: [
    ...FUNCTION,
    ...SEEING_TASKS,
    'ecs:StopTask',
    'lambda:InvokeFunction',
    'ec2:DescribeNetworkInterfaces',
    ...['DescribeKeyValueStore', 'PutKey', 'DeleteKey'].map((each) => `cloudfront-keyvaluestore:${each}`),
  ],
  StreamsStopperRole: [...FUNCTION, ...SEEING_TASKS, 'ecs:StopTask'],
};

/** What each role of a profile may do, and nothing else. */
export const expectedActions = (profile: ProfileName): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries({ ...ALWAYS, ...(profile === 'hobby' ? ON_DEMAND : BALANCED) }).map(([role, actions]) => [
      role,
      [...actions].sort(),
    ]),
  );

const OF_TOOLS = ['maintenance', 'tools', 'tools-update'];
const UPDATING = { DeleteItem: OF_TOOLS, GetItem: OF_TOOLS, PutItem: OF_TOOLS };

/** Which items of the table each role may touch. */
export const expectedItems = (profile: ProfileName): Record<string, Record<string, string[]>> => ({
  ApiAppInfoRole: { GetItem: ['maintenance', 'tools'] },
  ApiRequestCountRole: { BatchGetItem: ['count#*'] },
  ApiResolverRole: {
    GetItem: ['link#*', 'maintenance', 'resource#*', 'tools'],
    PutItem: ['link#*', 'resource#*'],
    UpdateItem: ['count#*', 'resource#*'],
  },
  OriginSecretMakerRole: { GetItem: ['origin-secret'], PutItem: ['origin-secret'] },
  ToolsLayerRole: UPDATING,
  ToolUpdatesFunctionRole: UPDATING,
  TaskTaskRole: { GetItem: ['maintenance', 'resource#*'], PutItem: ['resource#*'], UpdateItem: ['resource#*'] },
  ...(profile === 'hobby' && {
    StreamsWakeRole: {
      GetItem: ['resource#*', 'stream-task'],
      PutItem: ['stream-task'],
      DeleteItem: ['stream-task'],
    },
  }),
});

/** Actions that AWS takes without a resource. */
export const WITHOUT_RESOURCE = [
  'xray:PutTelemetryRecords',
  'xray:PutTraceSegments',
  'lambda:ListLayerVersions',
  'ecr:GetAuthorizationToken',
  'ec2:DescribeManagedPrefixLists',
  'ec2:DescribeNetworkInterfaces',
  'ecs:ListTasks',
];
