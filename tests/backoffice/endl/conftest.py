"""Keys made for these tests alone; made once, since an RSA key takes a while."""

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from backoffice.endl.keys import PrivateKey


@pytest.fixture(scope="session")
def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@pytest.fixture(scope="session")
def other_rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@pytest.fixture(scope="session")
def our_key(rsa_key: rsa.RSAPrivateKey) -> PrivateKey:
    return PrivateKey(rsa_key)


@pytest.fixture(scope="session")
def other_key(other_rsa_key: rsa.RSAPrivateKey) -> PrivateKey:
    return PrivateKey(other_rsa_key)
