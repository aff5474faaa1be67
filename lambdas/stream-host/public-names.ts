import { DescribeNetworkInterfacesCommand, type EC2Client } from '@aws-sdk/client-ec2';

/** Public DNS names by network interface, without interfaces that are deleted or have none. */
export type PublicNames = (networkInterfaces: readonly string[]) => Promise<ReadonlyMap<string, string>>;

export const createPublicNames =
  (ec2: EC2Client): PublicNames =>
  async (networkInterfaces) => {
    if (networkInterfaces.length === 0) return new Map();
    // A filter instead of NetworkInterfaceIds, which fails the whole call for one deleted interface.
    const Filters = [{ Name: 'network-interface-id', Values: [...networkInterfaces] }];
    const { NetworkInterfaces = [] } = await ec2.send(new DescribeNetworkInterfacesCommand({ Filters }));
    return new Map(
      NetworkInterfaces.flatMap(({ NetworkInterfaceId: id, Association }) =>
        id && Association?.PublicDnsName ? [[id, Association.PublicDnsName] as const] : [],
      ),
    );
  };
